/*
 * Delegation by subsumption over random grants: more than 100,000 ordered pairs, so each in both
 * directions. What may replace a constraint or a grant lets nothing pass that the other would not;
 * a valid pair with any one of the rules I1 to I6 broken is refused by that rule; and the compiled
 * form of a constraint answers as the vocabulary does. The seed is printed; WRIT_SEED repeats it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "broker/token/delegation.h"
#include "policy/constraint.h"
#include "policy/matcher.h"

static uint64_t random_state;

static size_t below(size_t bound)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (size_t)((random_state * 0x2545F4914F6CDD1Dull) >> 33) % bound;
}

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

/* ---- random constraints over a small world, so that relations are frequent ---- */

static void random_list(struct buf *out)
{
	static const char *const items[] = {"0", "1", "2", "3", "\"1\"", "\"a\"", "true"};
	bool some = false;

	buf_add_char(out, '[');
	for (size_t i = 0; i < ARRAY_LEN(items); i++)
		if (below(3) == 0) {
			buf_addf(out, "%s%s", some ? "," : "", items[i]);
			some = true;
		}
	buf_add_char(out, ']');
}

static void random_range(struct buf *out)
{
	size_t min = below(4), max = min + below(4 - min);

	buf_add_str(out, "{\"constraint_type\":\"range\"");
	if (below(4) > 0)
		buf_addf(out, ",\"min\":%zu,\"min_inclusive\":%s", min,
			 below(2) ? "true" : "false");
	if (below(4) > 0)
		buf_addf(out, ",\"max\":%zu,\"max_inclusive\":%s", max,
			 below(2) ? "true" : "false");
	buf_add_char(out, '}');
}

static void random_constraint(struct buf *out, int depth)
{
	static const char *const lists[] = {"one_of\",\"values", "not_one_of\",\"excluded",
					    "contains\",\"required", "subset\",\"allowed"};
	static const char *const values[] = {"0", "1", "2", "\"1\"", "\"a\"", "false"};
	size_t kind = below(depth > 0 ? 10 : 7);

	if (kind < 4) {
		buf_addf(out, "{\"constraint_type\":\"%s\":", lists[kind]);
		random_list(out);
		buf_add_char(out, '}');
	} else if (kind == 4) {
		buf_addf(out, "{\"constraint_type\":\"exact\",\"value\":%s}",
			 values[below(ARRAY_LEN(values))]);
	} else if (kind == 5) {
		random_range(out);
	} else if (kind == 6) {
		buf_add_str(out, "{\"constraint_type\":\"wildcard\"}");
	} else {
		size_t count = 1 + below(4);

		buf_addf(out, "{\"constraint_type\":\"%s\",\"constraints\":[",
			 kind < 9 ? "all" : "any");
		for (size_t i = 0; i < count; i++) {
			buf_add_str(out, i > 0 ? "," : "");
			random_constraint(out, depth - 1);
		}
		buf_add_str(out, "]}");
	}
}

static const char *const world[] = {
	"0",	 "1",	    "2",	   "3",	      "4",     "-1", "\"1\"",  "\"a\"",
	"\"b\"", "true",    "false",	   "1.5",     "null",  "[]", "[1]",    "[1,2]",
	"[0,3]", "[\"a\"]", "[\"a\",1,1]", "[1,2,3]", "[[1]]", "{}", "[true]", "[0,1,2,3]",
};
#define CONSTRAINTS 330u /* 108,900 pairs */

static void test_what_may_replace_a_constraint_passes_nothing_more(void **state)
{
	static struct json *some[CONSTRAINTS];
	static uint32_t passes[CONSTRAINTS];
	struct json *values[ARRAY_LEN(world)];
	size_t related = 0, missed = 0;

	(void)state;
	for (size_t v = 0; v < ARRAY_LEN(world); v++)
		values[v] = parse(world[v]);
	for (size_t i = 0; i < CONSTRAINTS; i++) {
		struct buf text = BUF_INIT;
		struct matcher *matcher;

		random_constraint(&text, 2);
		some[i] = parse(buf_str(&text));
		buf_clear(&text);
		matcher = matcher_new(some[i]);
		passes[i] = 0;
		for (size_t v = 0; v < ARRAY_LEN(world); v++) {
			bool passed = constraint_check(some[i], values[v]);

			assert_int_equal(matcher_passes(matcher, values[v]), passed);
			passes[i] |= (uint32_t)passed << v;
		}
		matcher_free(matcher);
	}
	for (size_t i = 0; i < CONSTRAINTS; i++) {
		assert_true(constraint_subsumes(some[i], some[i]));
		for (size_t j = 0; j < CONSTRAINTS; j++) {
			bool within = (passes[j] & ~passes[i]) == 0;

			if (constraint_subsumes(some[i], some[j])) {
				related++;
				assert_true(within);
			} else {
				missed += within;
			}
		}
	}
	print_message("%u pairs: %zu may replace, %zu more do by chance or are not provable\n",
		      CONSTRAINTS * CONSTRAINTS, related, missed);
	assert_true(related > 4 * CONSTRAINTS);
	for (size_t i = 0; i < CONSTRAINTS; i++)
		json_free(some[i]);
	for (size_t v = 0; v < ARRAY_LEN(world); v++)
		json_free(values[v]);
}

static void test_replacing_is_transitive(void **state)
{
	struct json *some[80];
	size_t chains = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		struct buf text = BUF_INIT;

		random_constraint(&text, 1);
		some[i] = parse(buf_str(&text));
		buf_clear(&text);
	}
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		for (size_t j = 0; j < ARRAY_LEN(some); j++)
			for (size_t k = 0; k < ARRAY_LEN(some); k++)
				if (constraint_subsumes(some[i], some[j]) &&
				    constraint_subsumes(some[j], some[k])) {
					assert_true(constraint_subsumes(some[i], some[k]));
					chains++;
				}
	assert_true(chains > ARRAY_LEN(some));
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		json_free(some[i]);
}

/* ---- random grants ---- */

#define NOW 1796083300
#define ISS "https://broker.example"
#define AUD "https://broker.example/tools"
#define KID "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
#define OTHER_KID "FtIu-VbGrfe_KB6CH7GNwODB72MNxj_ml11dEvO-7kk"
#define CHILD_URI "spiffe://corp.example/agent/child"

static const char *const tools[] = {"run_query", "list_tables", "report"};
static const char *const arguments[] = {"rows", "sql"};

static struct json *random_grant(void)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	bool some = false;

	buf_add_str(&text, "[{\"type\":\"writ_tools_v1\",\"tools\":{");
	for (size_t t = 0; t < ARRAY_LEN(tools); t++) {
		size_t named = 1 + below(3); /* one, the other, or both */

		if (below(2) == 0)
			continue;
		buf_addf(&text, "%s\"%s\":{", some ? "," : "", tools[t]);
		for (size_t a = 0; a < ARRAY_LEN(arguments); a++)
			if ((named >> a) & 1) {
				buf_addf(&text, "%s\"%s\":", a > 0 && named == 3 ? "," : "",
					 arguments[a]);
				random_constraint(&text, 1);
			}
		buf_add_char(&text, '}');
		some = true;
	}
	buf_add_str(&text, "}}]");
	return parse(buf_str(&text));
}

static void read_claims(struct json *payload, struct token_claims *ret_claims)
{
	struct err err;

	if (token_claims_read(payload, false, ret_claims, &err) < 0)
		fail_msg("%s", err.text);
}

static void make_pair(const struct json *details, struct token_claims *parent,
		      struct token_claims *child)
{
	struct token_fields fields = {
		.sub = "user:7f3a",
		.client_id = "parent",
		.agent_id = "spiffe://corp.example/agent/parent",
		.txn = "t-1",
		.now = NOW,
		.seconds = 300,
		.details = details,
		.scope = "sales.read",
		.del_max_depth = 3,
		.owner = "team:x",
		.policy_digest = "sha256:00",
		.policy_epoch = 1,
	};

	read_claims(token_claims_new(&fields), parent);
	snprintf(parent->input_hash, sizeof(parent->input_hash), "%s", OTHER_KID);
	fields.client_id = "child";
	fields.agent_id = CHILD_URI;
	fields.parent = parent;
	fields.seconds = 200;
	read_claims(token_claims_new(&fields), child);
}

static struct delegation_facts good_facts(const struct token_claims *parent)
{
	return (struct delegation_facts){
		.now = NOW,
		.parent_held = true,
		.policy_permits = true,
		.child_agent_id = CHILD_URI,
		.current_kid = KID,
		.child_kid = KID,
		.child_row_parent = parent->jti,
		.iss = ISS,
		.aud = AUD,
	};
}

#define GRANTS 320u /* 102,400 pairs */
#define CALLS 24u

static void random_call(struct json **ret_arguments, const char **ret_tool)
{
	struct json *json = json_object();

	for (size_t a = 0; a < ARRAY_LEN(arguments); a++)
		if (below(4) > 0)
			json_set(json, arguments[a], parse(world[below(ARRAY_LEN(world))]));
	if (below(12) == 0)
		json_set_int(json, "extra", 1);
	*ret_arguments = json;
	*ret_tool = tools[below(ARRAY_LEN(tools))];
}

static void test_a_delegated_grant_allows_no_call_that_its_parent_does_not(void **state)
{
	static struct json *grants[GRANTS];
	struct json *calls[CALLS];
	const char *called[CALLS];
	struct token_claims parent, child;
	struct delegation_facts facts;
	size_t accepted = 0, allowed = 0;
	struct err err;

	(void)state;
	for (size_t i = 0; i < GRANTS; i++)
		grants[i] = random_grant();
	for (size_t c = 0; c < CALLS; c++)
		random_call(&calls[c], &called[c]);
	make_pair(grants[0], &parent, &child);
	parent.iss = child.iss = ISS;
	parent.aud = child.aud = AUD;
	facts = good_facts(&parent);
	for (size_t i = 0; i < GRANTS; i++)
		for (size_t j = 0; j < GRANTS; j++) {
			parent.tools = json_get(json_at(grants[i], 0), "tools");
			child.tools = json_get(json_at(grants[j], 0), "tools");
			if (delegation_check(&parent, &child, &facts, &err) < 0) {
				assert_memory_equal(err.text, "I4", 2);
				assert_int_not_equal(i, j);
				continue;
			}
			accepted++;
			for (size_t c = 0; c < CALLS; c++) {
				if (token_allows(&child, called[c], calls[c], &err) < 0)
					continue;
				allowed++;
				assert_int_equal(token_allows(&parent, called[c], calls[c], &err),
						 0);
			}
		}
	print_message("%u pairs of grants, %zu accepted, %zu calls allowed by a child\n",
		      GRANTS * GRANTS, accepted, allowed);
	assert_true(accepted > GRANTS);
	assert_true(allowed > 50);
	for (size_t i = 0; i < GRANTS; i++)
		json_free(grants[i]);
	for (size_t c = 0; c < CALLS; c++)
		json_free(calls[c]);
	token_claims_clear(&parent);
	token_claims_clear(&child);
}

/* One rule broken in a pair that is otherwise valid; returns the rule that must refuse it. */
static const char *break_one(size_t which, struct token_claims *parent, struct token_claims *child,
			     struct delegation_facts *facts, struct json *wider)
{
	int64_t some = 1 + (int64_t)below(1000);

	switch (which) {
	case 0:
		facts->parent_held = false;
		return "I1(a)";
	case 1:
		facts->now = parent->exp + some - 1;
		return "I1(a)";
	case 2:
		facts->parent_revoked = true;
		return "I1(b)";
	case 3:
		facts->policy_permits = false;
		return "I1(c)";
	case 4:
		facts->child_kid = OTHER_KID;
		return "I1(d)";
	case 5:
		child->iss = "https://other.example";
		return "I1(e)";
	case 6:
		child->aud = ISS;
		return "I1(e)";
	case 7:
		child->sub = "user:other";
		return "I1(e)";
	case 8:
		child->txn = "t-2";
		return "I1(e)";
	case 9:
		facts->child_agent_id = "spiffe://corp.example/agent/another";
		return "I1(f)";
	case 10:
		child->act = parent->act;
		return "I1(f)";
	case 11:
		child->del_depth += below(2) ? some : -1;
		return "I2(";
	case 12:
		parent->del_max_depth = 0;
		return "I2(";
	case 13:
		child->del_max_depth = parent->del_max_depth + some;
		return "I2(";
	case 14:
		child->exp = parent->exp + some;
		return "I3(";
	case 15:
		child->exp = child->iat - some + 1;
		return "I3(";
	case 16:
		child->iat = parent->iat - some;
		return "I3(";
	case 17:
		child->nbf = parent->nbf - some;
		return "I3(d)";
	case 18:
		child->tools = json_get(json_at(wider, 0), "tools");
		return "I4(";
	case 19:
		child->scope = "sales.read sales.write";
		return "I4(d)";
	case 20:
		parent->scope = NULL;
		return "I4(d)";
	case 21:
		child->par_hash = KID;
		return "I5(a)";
	case 22:
		child->par_hash = NULL;
		return "I5(a)";
	case 23:
		facts->child_row_parent = child->jti;
		return "I5(b)";
	case 24:
		facts->child_external = true;
		facts->child_jkt = KID;
		return "I6(";
	default:
		child->jkt = OTHER_KID;
		facts->child_external = true;
		facts->child_jkt = KID;
		return "I6(a)";
	}
}
#define BREAKS 26u

static void test_any_one_rule_that_is_broken_refuses_by_its_name(void **state)
{
	struct json *wider = parse("[{\"type\":\"writ_tools_v1\",\"tools\":{\"another\":{\"a\":"
				   "{\"constraint_type\":\"wildcard\"}}}}]");
	struct err err;

	(void)state;
	for (size_t g = 0; g < 40; g++) {
		CLEANUP(json_freep) struct json *details = random_grant();
		struct token_claims parent, child;

		make_pair(details, &parent, &child);
		parent.iss = child.iss = ISS;
		parent.aud = child.aud = AUD;
		for (size_t n = 0; n < 2600; n++) {
			struct token_claims p = parent, c = child;
			struct delegation_facts facts = good_facts(&parent);
			const char *rule;

			if (n == 0 && delegation_check(&p, &c, &facts, &err) < 0)
				fail_msg("%s", err.text);
			rule = break_one(n % BREAKS, &p, &c, &facts, wider);
			if (delegation_check(&p, &c, &facts, &err) == 0)
				fail_msg("%s was broken (%zu) and the pair accepted", rule,
					 n % BREAKS);
			if (strncmp(err.text, rule, strlen(rule)) != 0)
				fail_msg("%s was broken (%zu), but: %s", rule, n % BREAKS,
					 err.text);
		}
		token_claims_clear(&parent);
		token_claims_clear(&child);
	}
	json_free(wider);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_may_replace_a_constraint_passes_nothing_more),
		cmocka_unit_test(test_replacing_is_transitive),
		cmocka_unit_test(test_a_delegated_grant_allows_no_call_that_its_parent_does_not),
		cmocka_unit_test(test_any_one_rule_that_is_broken_refuses_by_its_name),
	};
	const char *given = getenv("WRIT_SEED");

	crypto_init();
	random_bytes(&random_state, sizeof(random_state));
	if (given != NULL)
		random_state = strtoull(given, NULL, 0);
	random_state |= 1;
	print_message("WRIT_SEED=%llu\n", (unsigned long long)random_state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
