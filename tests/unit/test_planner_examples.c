/*
 * From an English question to numbers on the examples as they are shipped: planner, compiler and
 * SQLite together. The right answers were counted without SQL.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/unit/planner_digest.h"
#include "tests/unit/planner_example.h"

struct answer {
	const char *question;
	const char *rows;   /* NULL: no query comes of it; see digest */
	const char *digest; /* the start of plan_digest() */
};

static void check(const struct example *example, const struct answer *answer)
{
	struct plan *plan = example_plan(example, answer->question, NULL, NULL, false);
	CLEANUP(mem_freep) char *digest = plan_digest(plan);
	CLEANUP(mem_freep) char *rows = NULL;

	if (answer->rows == NULL) {
		if (strncmp(digest, answer->digest, strlen(answer->digest)) != 0)
			fail_msg("\"%s\"\n  gives %s\n  want  %s", answer->question, digest,
				 answer->digest);
	} else {
		if (plan->kind != PLAN_QUERY)
			fail_msg("\"%s\" gives %s", answer->question, digest);
		rows = example_rows(example, plan->query);
		if (strcmp(rows, answer->rows) != 0)
			fail_msg("\"%s\"\n  gives %s\n  want  %s\n  by    %s", answer->question,
				 rows, answer->rows, digest);
	}
	plan_free(plan);
}

static void check_all(const char *name, const char *today, const struct answer *answers,
		      size_t count)
{
	struct example example = {0};

	example_load(&example, name, today);
	for (size_t i = 0; i < count; i++)
		check(&example, &answers[i]);
	example_clear(&example);
}

static const struct answer sales[] = {
	{"Which regions had the highest net sales last quarter?",
	 "East, 420.0; West, 300.0; South, 90.0; Unknown, 40.0", NULL},
	{"How many completed orders did each region have last quarter?",
	 "East, 2; South, 1; Unknown, 1; West, 1", NULL},
	{"Who are our best customers?", NULL, "ask metric("},
	{"What was our profit last quarter?", NULL, "refuse undefined"},
	{"Delete the cancelled orders.", NULL, "refuse change"},
	{"How many orders are there?", "9", NULL},
	{"What were net sales last quarter?", "850.0", NULL},
	{"net sales in East and West last quarter", "720.0", NULL},
	{"net sales last quarter, excluding East", "430.0", NULL},
	{"net sales last quarter in the Unknown region", "40.0", NULL},
	{"top 2 regions by net sales last quarter", "East, 420.0; West, 300.0", NULL},
	{"Which region had the lowest net sales last quarter?",
	 "Unknown, 40.0; South, 90.0; West, 300.0; East, 420.0", NULL},
	{"Compare net sales last quarter with the quarter before", "850.0, 700.0, 150.0, 21.43",
	 NULL},
	{"share of net sales by region last quarter",
	 "East, 420.0, 49.41; West, 300.0, 35.29; South, 90.0, 10.59; Unknown, 40.0, 4.71", NULL},
	{"How many orders were cancelled or pending?", "2", NULL},
	{"How many orders are not completed?", "2", NULL},
	{"number of canceled orders", "1", NULL},
	{"hi, could you please tell me how much we sold last quarter?", "850.0", NULL},
	{"How much money did the East bring in last quarter?", "420.0", NULL},
	{"What have we earned from Gadgets in Q3?", "140.0", NULL},
	{"How many Widgets did we sell last quarter?", "9", NULL},
	{"How many sales last quarter?", NULL, "ask metric(net_sales|order_count|"},
	{"regions that sold at least 300 last quarter", NULL, "ask metric(net_sales|units_sold"},
	{"How high was revenue in Q3?", "850.0", NULL},
	{"sales in october to date", "900.0", NULL},
	{"sales in august to date", NULL, "refuse period: I cannot read the period: it is not the"},
	{"regional net sales, last quarter", "East, 420.0; West, 300.0; South, 90.0; Unknown, 40.0",
	 NULL},
	{"region with the least net sales last quarter",
	 "Unknown, 40.0; South, 90.0; West, 300.0; East, 420.0", NULL},
	{"lowest revenue product in Q3 2026", "Gadget, 140.0; Gizmo, 300.0; Widget, 410.0", NULL},
	{"net sales by region last quarter, only regions over 100", "East, 420.0; West, 300.0",
	 NULL},
	{"net sales per region, top 2, for each month of Q3", NULL,
	 "ask within(all|customers.region|orders.order_date)"},
	{"top 2 regions by net sales in each month of Q3",
	 "East, 2026-07, 240.0; South, 2026-07, 90.0; West, 2026-08, 300.0; Unknown, 2026-08, "
	 "40.0; East, 2026-09, 180.0",
	 NULL},
	{"net sales by East and West last quarter", NULL, "refuse unclear"},
	{"total net sales in Q2 plus Q3", "1550.0", NULL},
	{"net sales in Q3 and Q2 combined", "1550.0", NULL},
	{"net sales in July plus September", NULL, "refuse period"},
	{"net sales by county", NULL, "refuse unknown_word"},
	{"profti last quarter", NULL, "refuse undefined"},
	{"average net sales per order last quarter", "170.0", NULL},
	{"average order value last quarter", "170.0", NULL},
	{"net sales by month in Q3 2026", "2026-07, 330.0; 2026-08, 340.0; 2026-09, 180.0", NULL},
	{"net sales on 2026-06-30", "700.0", NULL},
	{"net sales since October", "900.0", NULL},
};

static void test_sales_questions_end_in_their_numbers(void **state)
{
	(void)state;
	check_all("sales", "2026-10-15", sales, ARRAY_LEN(sales));
}

static const struct answer widgets[] = {
	{"What was the revenue of Widgets in Q2 2025?", "1000.0", NULL},
	{"revenue of Widgets between 2025-04-01 and 2025-06-30", "1000.0", NULL},
	{"Revenue of widgets last quarter", "1000.0", NULL},
	{"average order amount", NULL, "ask per(orders.customer)"},
	{"average order amount per customer", "566.67", NULL},
};

static void test_widgets_questions_are_not_inflated(void **state)
{
	(void)state;
	check_all("widgets", "2025-07-15", widgets, ARRAY_LEN(widgets));
}

static const struct answer company[] = {
	{"How many open issues are there?", "60", NULL},
	{"Which AI-team members have open issues on Project Phoenix?",
	 "Amara Okafor, 4; Chiara Lombardi, 3; Elif Yilmaz, 2", NULL},
	{"Which members of the AI team have open issues on Project Phoenix?",
	 "Amara Okafor, 4; Chiara Lombardi, 3; Elif Yilmaz, 2", NULL},
	{"How many open issues are left on the AI project?", NULL, "lookup project "},
	{"How many issues are there?", "320", NULL},
	{"How many open issues are there per priority?",
	 "medium, 20; low, 19; high, 15; critical, 6", NULL},
	{"How many employees does each department have?",
	 "AI, 5; Platform, 5; Support, 4; Design, 3; Finance, 3; Mobile, 3; Sales, 3", NULL},
	{"How many projects are there?", "9", NULL},
	{"How many issues were opened last quarter?", "48", NULL},
	{"How many issues were opened last month?", "16", NULL},
	{"How many issues were closed in September 2026?", "14", NULL},
	{"In September 2026, how many issues were closed?", "14", NULL},
	{"resolved bugs in September 2026", NULL, "ask date(issues.opened_on|issues.closed_on)"},
	{"Which employee closed the most tickets in 2026?", NULL,
	 "ask date(issues.opened_on|issues.closed_on)"},
	{"monthly closed issues", NULL, "ask date(issues.opened_on|issues.closed_on)"},
	{"issues opened and closed in September 2026", NULL, "refuse period: Two dates are named"},
	{"issues closed by month in Q3 2026", "2026-07, 17; 2026-08, 19; 2026-09, 14", NULL},
	{"How many issues were closed per year?", "2025, 116; 2026, 144", NULL},
	{"people hired per year since 2023", "2023, 2; 2024, 2", NULL},
	{"open issues last month", "7", NULL},
	{"How many projects are done?", "1", NULL},
	{"done projects", "1", NULL},
	{"which projects are done", "Project Lantern", NULL},
	{"issues opened per month and closed per month", NULL, "refuse period"},
	{"opened and closed issues in September", NULL, "refuse period: Two dates are named"},
	{"difference between opened and closed issues in September", NULL,
	 "refuse period: Two dates are named"},
	{"issues opened in September and closed", "9", NULL},
	{"issues due in September", NULL, "refuse period: \"due on\" is a date of projects"},
	{"issues for each AI employee",
	 "Amara Okafor, 37; Elif Yilmaz, 33; Chiara Lombardi, 30; Dmitri Volkov, 13; Bruno Keller, "
	 "12",
	 NULL},
	{"how many issues did each team lead get", NULL, "refuse unclear"},
	{"my open issues", NULL, "refuse unclear: \"my\" means whoever asks"},
	{"How many open issues do I have?", NULL, "refuse unclear: \"I\" means whoever asks"},
	{"open issues by me", NULL, "refuse unclear: \"me\" means whoever asks"},
	{"where do employees work", NULL, "refuse unclear: \"where\" does not say"},
	{"show me how many issues are open", "60", NULL},
	{"can I see the number of open issues?", "60", NULL},
	{"I want to know how many issues are open", "60", NULL},
	{"total days to close", NULL, "refuse undefined: A total is asked for"},
	{"total issues", "320", NULL},
	{"Team Leads per department", NULL, "ask metric("},
	{"percentage of issues that are open per project", NULL,
	 "refuse unsupported: A share within each group"},
	{"share of open issues by priority",
	 "medium, 20, 33.33; low, 19, 31.67; high, 15, 25.0; critical, 6, 10.0", NULL},
	{"list the projects of the Sales department", "Project Lantern", NULL},
	{"Projects by status", "active, 7; done, 1; paused, 1", NULL},
	{"How many projects does the Platform department own?", "2", NULL},
	{"How many employees are in the AI department?", "5", NULL},
	{"issues of the AI department", NULL,
	 "ask ai(employees.department|projects.project_department)"},
	{"issues by status", "closed, 260; open, 60", NULL},
	{"how many open isues does Project Atlas have", "20", NULL},
	{"number of low priority open issues", "19", NULL},
	{"list the employees of the Sales department", "Umar Farouk; Vera Novak; Wanda Kowalska",
	 NULL},
	{"which Team Leads have open issues", NULL, "refuse unclear"},
	{"How many critical issues are open on Project Atlas?", "2", NULL},
	{"How many open issues have no assignee?", "11", NULL},
	{"open issues without an assignee", "11", NULL},
	{"How many unresolved issues are there?", "60", NULL},
	{"Compare the issues of last quarter with the quarter before", "48, 59, -11, -18.64", NULL},
	{"Which employees have no open issues?", NULL, "refuse unclear"},
	{"How many people were hired this year?", "0", NULL},
	{"What is the salary of Amara Okafor?", NULL, "refuse undefined"},
	{"How many open issues are in Platform?", NULL, "ask platform("},
};

static void test_company_questions_end_in_their_numbers(void **state)
{
	(void)state;
	check_all("company", "2026-10-15", company, ARRAY_LEN(company));
}

static void test_the_named_column_gives_way_to_the_real_one(void **state)
{
	const char *question = "Using the severity column, how many critical issues are open?";
	struct example example = {0};
	struct plan *plan = NULL;
	CLEANUP(mem_freep) char *rows = NULL;

	(void)state;
	example_load(&example, "company", "2026-10-15");
	plan = example_plan(&example, question, NULL, NULL, false);
	assert_string_equal(plan->column, "severity");
	plan_free(plan);
	plan = example_plan(&example, question, NULL, NULL, true);
	assert_null(plan->column);
	rows = example_rows(&example, plan->query);
	assert_string_equal(rows, "6");
	plan_free(plan);
	example_clear(&example);
}

static void test_a_chosen_project_narrows_the_count(void **state)
{
	struct json *choices = json_object();
	struct example example = {0};
	struct plan *plan = NULL;
	CLEANUP(mem_freep) char *rows = NULL;

	(void)state;
	json_set_str(choices, "project", "Project Atlas");
	example_load(&example, "company", "2026-10-15");
	plan = example_plan(&example, "How many open issues are left on the AI project?", choices,
			    NULL, false);
	rows = example_rows(&example, plan->query);
	assert_string_equal(rows, "20");
	plan_free(plan);
	json_free(choices);
	example_clear(&example);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sales_questions_end_in_their_numbers),
		cmocka_unit_test(test_widgets_questions_are_not_inflated),
		cmocka_unit_test(test_company_questions_end_in_their_numbers),
		cmocka_unit_test(test_the_named_column_gives_way_to_the_real_one),
		cmocka_unit_test(test_a_chosen_project_narrows_the_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
