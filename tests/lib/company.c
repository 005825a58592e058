/*
 * company sql|expected: the data of examples/company, and the right answers about it.
 *
 * The rows are drawn from a fixed seed. The answers are counted here, over arrays, with no SQL at
 * all, so that they can judge what the service answers from the database. Both outputs are
 * committed as examples/company/data.sql and expected.json.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

#define SEED 20261015u
#define TODAY "2026-10-15"
#define EMPLOYEES 26
#define PROJECTS 9
#define ISSUES 320

struct employee {
	const char *name;
	const char *department;
	const char *title;
	char hired_on[DATE_LEN + 1];
	int64_t salary_cents;
};

struct project {
	const char *name;
	const char *department;
	const char *status;
	const char *started_on;
	const char *due_on;
	const char *update;
};

struct issue {
	int project;
	int assignee; /* -1: nobody */
	char title[96];
	bool open;
	int priority;
	int64_t opened;
	int64_t closed;
};

static struct employee employees[EMPLOYEES] = {
	{"Amara Okafor", "AI", "Research Engineer", "", 0},
	{"Bruno Keller", "AI", "Data Scientist", "", 0},
	{"Chiara Lombardi", "AI", "Machine Learning Engineer", "", 0},
	{"Dmitri Volkov", "AI", "Research Engineer", "", 0},
	{"Elif Yilmaz", "AI", "Team Lead", "", 0},
	{"Farid Haddad", "Platform", "Backend Engineer", "", 0},
	{"Greta Nilsson", "Platform", "Site Reliability Engineer", "", 0},
	{"Hugo Martins", "Platform", "Backend Engineer", "", 0},
	{"Ines Carvalho", "Platform", "Team Lead", "", 0},
	{"Jonas Weber", "Platform", "Database Engineer", "", 0},
	{"Keiko Tanaka", "Design", "Product Designer", "", 0},
	{"Liam O'Connor", "Design", "Product Designer", "", 0},
	{"Mina Rahimi", "Design", "Team Lead", "", 0},
	{"Noah Fischer", "Finance", "Controller", "", 0},
	{"Olga Petrova", "Finance", "Analyst", "", 0},
	{"Pedro Alvarez", "Finance", "Team Lead", "", 0},
	{"Quinn Murphy", "Support", "Support Engineer", "", 0},
	{"Rosa Jimenez", "Support", "Support Engineer", "", 0},
	{"Sven Lindqvist", "Support", "Support Engineer", "", 0},
	{"Tara Singh", "Support", "Team Lead", "", 0},
	{"Umar Farouk", "Sales", "Account Manager", "", 0},
	{"Vera Novak", "Sales", "Account Manager", "", 0},
	{"Wanda Kowalska", "Sales", "Team Lead", "", 0},
	{"Xavier Dupont", "Mobile", "App Developer", "", 0},
	{"Yara Mansour", "Mobile", "App Developer", "", 0},
	{"Zoe Anders", "Mobile", "Team Lead", "", 0},
};

static const struct project projects[PROJECTS] = {
	{"Project Phoenix", "AI", "active", "2025-01-13", "2026-12-18",
	 "second training run began"},
	{"Project Atlas", "AI", "active", "2025-05-05", "2027-03-31", NULL},
	{"Project Harbor", "Platform", "active", "2025-02-03", "2026-11-30", "cut-over is planned"},
	{"Project Granite", "Platform", "paused", "2025-09-01", "2027-01-29", "waits for hardware"},
	{"Project Canvas", "Design", "active", "2025-03-10", "2026-10-30", NULL},
	{"Project Ledger", "Finance", "active", "2025-01-20", "2026-12-31",
	 "audit questions came in"},
	{"Project Beacon", "Support", "active", "2025-04-07", "2027-02-26", NULL},
	{"Project Lantern", "Sales", "done", "2025-01-06", "2026-06-30", "handed over"},
	{"Project Swift", "Mobile", "active", "2025-06-16", "2027-04-30", "beta is out"},
};

static const char *const priorities[] = {"low", "medium", "high", "critical"};
static struct issue issues[ISSUES];

static uint64_t state = SEED;

/* xorshift64*: the same numbers on every machine. */
static uint32_t draw(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545F4914F6CDD1Dull) >> 32) % below;
}

static int64_t day(const char *text)
{
	struct date date;
	struct err err;

	if (date_read(text, &date, &err) < 0)
		abort();
	return date_to_days(date);
}

static void write_day(int64_t days, char out[DATE_LEN + 1])
{
	date_write(date_from_days(days), out);
}

static void draw_title(struct issue *issue, int number)
{
	static const char *const odd[] = {
		"Label the training set again",
		"Import stops at a;b in a name",
		"DROP of connections during sync",
		"Column \"update\" is shown twice",
		"Don't retry after a 404",
		"Training set has duplicate rows",
		"Field a;b is split in two",
		"100% of one core while idle",
		"Comment -- is cut off in the report",
		"Search for _ finds everything",
	};
	static const char *const what[] = {"Login page",     "Nightly export", "Search index",
					   "Invoice import", "Push message",   "Settings dialog",
					   "Audit report",   "Data loader",    "Model server",
					   "Price table"};
	static const char *const how[] = {"is slow under load",	  "fails on empty input",
					  "shows the wrong date", "needs a retry",
					  "loses the last line",  "ignores the language",
					  "has no test",	  "times out",
					  "needs documentation"};

	if (number % 16 == 3)
		snprintf(issue->title, sizeof(issue->title), "%s",
			 odd[(size_t)(number / 16) % ARRAY_LEN(odd)]);
	else
		snprintf(issue->title, sizeof(issue->title), "%s %s", what[draw(ARRAY_LEN(what))],
			 how[draw(ARRAY_LEN(how))]);
}

/* Mostly someone of the project's own department; now and then another, or nobody yet. */
static int draw_assignee(const struct issue *issue)
{
	const char *department = projects[issue->project].department;

	if (draw(100) < 12)
		return -1;
	for (;;) {
		int employee = (int)draw(EMPLOYEES);

		if (issue->project == 0 && (employee == 1 || employee == 3))
			continue; /* so that not the whole AI team is on Phoenix */
		if (strcmp(employees[employee].department, department) == 0 || draw(12) == 0)
			return employee;
	}
}

static void draw_issue(struct issue *issue, int number)
{
	int64_t first, last = day(TODAY) - 1;
	uint32_t kind;

	/* the two AI projects have the most */
	issue->project = draw(100) < 45 ? (int)draw(2) : (int)draw(PROJECTS);
	first = day(projects[issue->project].started_on);
	issue->opened = first + (int64_t)draw((uint32_t)(last - first + 1));
	issue->assignee = draw_assignee(issue);
	kind = draw(100);
	issue->priority = kind < 30 ? 0 : kind < 68 ? 1 : kind < 90 ? 2 : 3;
	issue->closed = issue->opened + 1 + (int64_t)draw(75u - 18u * (uint32_t)issue->priority);
	issue->open = issue->closed > last || draw(100) < 18;
	if (strcmp(projects[issue->project].status, "done") == 0)
		issue->open = issue->closed > last;
	draw_title(issue, number);
}

static void draw_all(void)
{
	for (int i = 0; i < EMPLOYEES; i++) {
		write_day(day("2018-01-01") + (int64_t)draw(2600), employees[i].hired_on);
		employees[i].salary_cents = 4800000 + 10000 * (int64_t)draw(500);
	}
	for (int i = 0; i < ISSUES; i++)
		draw_issue(&issues[i], i);
}

static void print_text(const char *text)
{
	if (!text) {
		fputs("NULL", stdout);
		return;
	}
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'')
			putchar('\'');
		putchar(*text);
	}
	putchar('\'');
}

static const char schema[] =
	"-- A company's people, projects and issues; made by `company sql` (tests/lib/company.c).\n"
	"-- Its reference date is " TODAY " (writ.yaml).\n\n"
	"-- one row = one employee; no scope of this example allows salary_cents\n"
	"CREATE TABLE employees (\n"
	"  employee_id  INTEGER PRIMARY KEY,\n"
	"  name         TEXT NOT NULL,\n"
	"  department   TEXT NOT NULL,\n"
	"  title        TEXT NOT NULL,\n"
	"  hired_on     TEXT NOT NULL,\n"
	"  salary_cents INTEGER NOT NULL\n"
	");\n"
	"-- one row = one project\n"
	"CREATE TABLE projects (\n"
	"  project_id INTEGER PRIMARY KEY,\n"
	"  name       TEXT NOT NULL UNIQUE,\n"
	"  department TEXT NOT NULL,\n"
	"  status     TEXT NOT NULL,\n"
	"  started_on TEXT NOT NULL,\n"
	"  due_on     TEXT NOT NULL,\n"
	"  \"update\"   TEXT\n"
	");\n"
	"-- one row = one issue; closed_on is missing while it is open, assignee_id while nobody "
	"has it\n"
	"CREATE TABLE issues (\n"
	"  issue_id    INTEGER PRIMARY KEY,\n"
	"  project_id  INTEGER NOT NULL REFERENCES projects(project_id),\n"
	"  assignee_id INTEGER REFERENCES employees(employee_id),\n"
	"  title       TEXT NOT NULL,\n"
	"  status      TEXT NOT NULL CHECK (status IN ('open', 'closed')),\n"
	"  priority    TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high', 'critical')),\n"
	"  opened_on   TEXT NOT NULL,\n"
	"  closed_on   TEXT\n"
	");\n";

static void print_issue(const struct issue *issue, int id)
{
	char opened[DATE_LEN + 1], closed[DATE_LEN + 1];

	write_day(issue->opened, opened);
	write_day(issue->closed, closed);
	printf("  (%d, %d, ", id, issue->project + 1);
	if (issue->assignee < 0)
		fputs("NULL, ", stdout);
	else
		printf("%d, ", issue->assignee + 1);
	print_text(issue->title);
	printf(", '%s', '%s', '%s', ", issue->open ? "open" : "closed", priorities[issue->priority],
	       opened);
	print_text(issue->open ? NULL : closed);
	puts(id < ISSUES ? ")," : ");");
}

static void print_sql(void)
{
	fputs(schema, stdout);
	puts("\nINSERT INTO employees (employee_id, name, department, title, hired_on, "
	     "salary_cents) "
	     "VALUES");
	for (int i = 0; i < EMPLOYEES; i++) {
		const struct employee *employee = &employees[i];

		printf("  (%d, ", i + 1);
		print_text(employee->name);
		printf(", '%s', '%s', '%s', %" PRId64 ")%s\n", employee->department,
		       employee->title, employee->hired_on, employee->salary_cents,
		       i + 1 < EMPLOYEES ? "," : ";");
	}
	puts("\nINSERT INTO projects (project_id, name, department, status, started_on, due_on, "
	     "\"update\") VALUES");
	for (int i = 0; i < PROJECTS; i++) {
		const struct project *project = &projects[i];

		printf("  (%d, '%s', '%s', '%s', '%s', '%s', ", i + 1, project->name,
		       project->department, project->status, project->started_on, project->due_on);
		print_text(project->update);
		puts(i + 1 < PROJECTS ? ")," : ");");
	}
	puts("\nINSERT INTO issues (issue_id, project_id, assignee_id, title, status, priority, "
	     "opened_on, closed_on) VALUES");
	for (int i = 0; i < ISSUES; i++)
		print_issue(&issues[i], i + 1);
}

/* The answers. */

typedef bool wanted_fn(const struct issue *issue);

static bool any(const struct issue *issue)
{
	(void)issue;
	return true;
}

static bool is_open(const struct issue *issue)
{
	return issue->open;
}

static bool is_open_critical(const struct issue *issue)
{
	return issue->open && issue->priority == 3;
}

static bool is_open_unassigned(const struct issue *issue)
{
	return issue->open && issue->assignee < 0;
}

static bool is_open_critical_on_atlas(const struct issue *issue)
{
	return is_open_critical(issue) && issue->project == 1;
}

static bool opened_between(const struct issue *issue, const char *from, const char *to)
{
	return issue->opened >= day(from) && issue->opened < day(to);
}

static bool is_of_last_quarter(const struct issue *issue)
{
	return opened_between(issue, "2026-07-01", "2026-10-01");
}

static bool is_of_quarter_before(const struct issue *issue)
{
	return opened_between(issue, "2026-04-01", "2026-07-01");
}

static bool is_of_last_month(const struct issue *issue)
{
	return opened_between(issue, "2026-09-01", "2026-10-01");
}

static int count(wanted_fn *wanted)
{
	int n = 0;

	for (int i = 0; i < ISSUES; i++)
		n += wanted(&issues[i]);
	return n;
}

struct row {
	const char *label;
	double value;
};

static int by_value(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	if (one->value != other->value)
		return one->value < other->value ? 1 : -1;
	return strcmp(one->label, other->label);
}

static struct json *new_answer(const char *question, const char *status)
{
	struct json *answer = json_object();

	json_set_str(answer, "question", question);
	json_set_str(answer, "status", status);
	return answer;
}

static void add_value(struct json *answers, const char *question, int value)
{
	struct json *answer = new_answer(question, "completed");
	struct json *rows = json_array(), *row = json_array();

	json_push_int(row, value);
	json_push(rows, row);
	json_set(answer, "rows", rows);
	json_push(answers, answer);
}

static void push_number(struct json *row, double value)
{
	if (value == (double)(int64_t)value)
		json_push_int(row, (int64_t)value);
	else
		json_push(row, json_new_real(value));
}

/* Rows without a value are left out, as no group of a query is without rows. */
static void add_rows(struct json *answers, const char *question, struct row *rows, int rows_count,
		     int limit)
{
	struct json *answer = new_answer(question, "completed");
	struct json *list = json_array();

	qsort(rows, (size_t)rows_count, sizeof(*rows), by_value);
	for (int i = 0; i < rows_count && i < limit && rows[i].value > 0; i++) {
		struct json *row = json_array();

		json_push_str(row, rows[i].label);
		push_number(row, rows[i].value);
		json_push(list, row);
	}
	json_set(answer, "rows", list);
	json_push(answers, answer);
}

static void add_per_project(struct json *answers)
{
	struct row rows[PROJECTS];

	for (int i = 0; i < PROJECTS; i++) {
		rows[i] = (struct row){projects[i].name, 0};
		for (int j = 0; j < ISSUES; j++)
			rows[i].value += issues[j].open && issues[j].project == i;
	}
	add_rows(answers, "How many open issues does each project have?", rows, PROJECTS, PROJECTS);
}

static void add_per_priority(struct json *answers)
{
	struct row rows[4], days[4];

	for (int i = 0; i < 4; i++) {
		int64_t sum = 0, closed = 0;

		rows[i] = (struct row){priorities[i], 0};
		for (int j = 0; j < ISSUES; j++) {
			if (issues[j].priority != i)
				continue;
			rows[i].value += issues[j].open;
			closed += !issues[j].open;
			sum += issues[j].open ? 0 : issues[j].closed - issues[j].opened;
		}
		/* rounded half up to two places, in whole numbers */
		days[i] = (struct row){priorities[i],
				       (double)((sum * 200 + closed) / (2 * closed)) / 100.0};
	}
	add_rows(answers, "How many open issues are there per priority?", rows, 4, 4);
	add_rows(answers, "What is the average days to close per priority?", days, 4, 4);
}

static void add_per_employee(struct json *answers)
{
	struct row rows[EMPLOYEES + 1];

	for (int i = 0; i < EMPLOYEES; i++) {
		rows[i] = (struct row){employees[i].name, 0};
		for (int j = 0; j < ISSUES; j++)
			rows[i].value += issues[j].open && issues[j].assignee == i;
	}
	rows[EMPLOYEES] = (struct row){"nobody", count(is_open_unassigned)};
	add_rows(answers, "How many open issues does each employee have?", rows, EMPLOYEES + 1,
		 EMPLOYEES + 1);
}

static void add_per_department(struct json *answers)
{
	struct row rows[EMPLOYEES];
	int count_rows = 0;

	for (int i = 0; i < EMPLOYEES; i++) {
		int at = 0;

		while (at < count_rows && strcmp(rows[at].label, employees[i].department) != 0)
			at++;
		if (at == count_rows)
			rows[count_rows++] = (struct row){employees[i].department, 0};
		rows[at].value++;
	}
	add_rows(answers, "How many employees does each department have?", rows, count_rows,
		 count_rows);
}

static void add_members(struct json *answers)
{
	struct json *answer = new_answer(
		"Which AI-team members have open issues on Project Phoenix?", "completed");
	struct json *names = json_array();

	for (int i = 0; i < EMPLOYEES; i++) {
		bool has = false;

		if (strcmp(employees[i].department, "AI") != 0)
			continue;
		for (int j = 0; j < ISSUES; j++)
			has = has ||
			      (issues[j].open && issues[j].assignee == i && issues[j].project == 0);
		if (has)
			json_push_str(names, employees[i].name);
	}
	json_set(answer, "names", names);
	json_push(answers, answer);
}

static void add_clarification(struct json *answers)
{
	struct json *answer =
		new_answer("How many open issues are left on the AI project?", "needs_input");
	struct json *choices = json_object();

	for (int i = 0; i < 2; i++) {
		int n = 0;

		for (int j = 0; j < ISSUES; j++)
			n += issues[j].open && issues[j].project == i;
		json_set_int(choices, projects[i].name, n);
	}
	json_set(answer, "choices", choices);
	json_push(answers, answer);
}

static void add_comparison(struct json *answers)
{
	struct json *answer = new_answer(
		"Compare the issues of last quarter with the quarter before", "completed");
	int now = count(is_of_last_quarter), before = count(is_of_quarter_before);
	struct json *rows = json_array(), *row = json_array();

	json_push_int(row, now);
	json_push_int(row, before);
	json_push_int(row, now - before);
	json_push(rows, row);
	json_set(answer, "rows", rows);
	json_push(answers, answer);
}

static void add_months(struct json *answers)
{
	struct json *answer =
		new_answer("How many issues were opened per month this year?", "completed");
	struct json *rows = json_array();

	for (int month = 1; month <= 10; month++) {
		struct json *row = json_array();
		char label[32];
		int n = 0;

		for (int i = 0; i < ISSUES; i++) {
			struct date date = date_from_days(issues[i].opened);

			n += date.year == 2026 && date.month == month;
		}
		if (n == 0) {
			json_free(row);
			continue;
		}
		snprintf(label, sizeof(label), "2026-%02d", month);
		json_push_str(row, label);
		json_push_int(row, n);
		json_push(rows, row);
	}
	json_set(answer, "rows", rows);
	json_push(answers, answer);
}

static void print_expected(void)
{
	CLEANUP(json_freep) struct json *expected = json_object();
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *answers = json_array();

	add_value(answers, "How many open issues are there?", count(is_open));
	add_members(answers);
	add_clarification(answers);
	add_value(answers, "Using the severity column, how many critical issues are open?",
		  count(is_open_critical));
	add_value(answers, "How many issues are there?", count(any));
	add_per_project(answers);
	add_per_priority(answers);
	add_per_employee(answers);
	add_per_department(answers);
	add_value(answers, "How many projects are there?", PROJECTS);
	add_value(answers, "How many issues were opened last quarter?", count(is_of_last_quarter));
	add_value(answers, "How many issues were opened last month?", count(is_of_last_month));
	add_value(answers, "How many critical issues are open on Project Atlas?",
		  count(is_open_critical_on_atlas));
	add_value(answers, "How many open issues have no assignee?", count(is_open_unassigned));
	add_comparison(answers);
	add_months(answers);
	json_set_str(expected, "today", TODAY);
	json_set(expected, "answers", answers);
	json_write_pretty(expected, &text);
	puts(buf_str(&text));
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "sql") == 0) {
		draw_all();
		print_sql();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "expected") == 0) {
		draw_all();
		print_expected();
		return 0;
	}
	fprintf(stderr, "usage: company sql|expected\n");
	return 2;
}
