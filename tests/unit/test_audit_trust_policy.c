/* The auditor's policy file: every kind of line, every way to get it wrong, and the quorum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "broker/audit/trust_policy.h"

static struct err err;
static struct trust_policy policy;
static char log_key[200], keys[6][200];

static int make_keys(void **state)
{
	struct buf text = BUF_INIT;
	struct vkey key;

	(void)state;
	for (uint8_t i = 0; i < 6; i++) {
		const uint8_t public_key[ED25519_PUBLIC_LEN] = {i};
		char name[16];

		snprintf(name, sizeof(name), "w%d.example", i);
		assert_int_equal(vkey_init_cosigner(&key, name, public_key, &err), 0);
		buf_reset(&text);
		vkey_write(&key, &text);
		snprintf(keys[i], sizeof(keys[i]), "%s", buf_str(&text));
	}
	{
		const uint8_t public_key[ED25519_PUBLIC_LEN] = {99};

		assert_int_equal(vkey_init(&key, "log.example", public_key, &err), 0);
		buf_reset(&text);
		vkey_write(&key, &text);
		snprintf(log_key, sizeof(log_key), "%s", buf_str(&text));
	}
	buf_clear(&text);
	return 0;
}

/* $L and $0 to $5 stand for the keys. */
static int parse(const char *text)
{
	struct buf full = BUF_INIT;
	int result;

	for (const char *at = text; *at != '\0'; at++) {
		if (*at != '$') {
			buf_add_char(&full, *at);
			continue;
		}
		at++;
		buf_add_str(&full, *at == 'L' ? log_key : keys[*at - '0']);
	}
	result = trust_policy_parse(buf_str(&full), full.len, &policy, &err);
	buf_clear(&full);
	return result;
}

static void refuses(const char *text, const char *why)
{
	if (parse(text) == 0)
		fail_msg("accepted: %s", text);
	if (strstr(err.text, why) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", why, err.text);
}

static void test_a_policy_of_two_groups_is_met_by_the_right_witnesses(void **state)
{
	(void)state;
	assert_int_equal(parse("# ours\nlog $L https://log.example/\n\n"
			       "witness X1 $0\nwitness X2 $1 https://x2.example/\n\twitness X3 $2\n"
			       "group X 2 X1 X2 X3\nwitness Y1 $3\nwitness Y2 $4\n"
			       "group Y any Y1 Y2\ngroup both all X Y\nquorum both\n"),
			 0);
	assert_int_equal(policy.log_count, 1);
	assert_string_equal(policy.logs[0].url, "https://log.example/");
	assert_int_equal(trust_policy_witnesses(&policy), 5);
	for (unsigned int set = 0; set < 32; set++) {
		/* members: X1 X2 X3 X Y1 Y2 Y both */
		const bool cosigned[8] = {(set & 1) != 0, (set & 2) != 0,  (set & 4) != 0, false,
					  (set & 8) != 0, (set & 16) != 0, false,	   false};
		bool want = __builtin_popcount(set & 7) >= 2 && (set & 24) != 0;

		assert_int_equal(trust_policy_met(&policy, cosigned), want);
	}
	trust_policy_clear(&policy);
}

static void test_no_quorum_needs_nobody_and_one_witness_needs_that_one(void **state)
{
	const bool no[1] = {false}, yes[1] = {true};

	(void)state;
	assert_int_equal(parse("witness W $0\nquorum none\n"), 0);
	assert_true(trust_policy_met(&policy, no));
	trust_policy_clear(&policy);
	assert_int_equal(parse("witness W $0\nquorum W\n"), 0);
	assert_false(trust_policy_met(&policy, no));
	assert_true(trust_policy_met(&policy, yes));
	trust_policy_clear(&policy);
}

static void test_thresholds_hold_from_one_to_the_number_of_members(void **state)
{
	(void)state;
	refuses("witness A $0\nwitness B $1\ngroup G 0 A B\nquorum G\n", "line 3: a threshold");
	refuses("witness A $0\nwitness B $1\ngroup G 3 A B\nquorum G\n", "line 3: a threshold");
	refuses("witness A $0\ngroup G 01 A\nquorum G\n", "line 2: a threshold");
	refuses("witness A $0\ngroup G some A\nquorum G\n", "neither a number nor any nor all");
	for (const char *k = "12"; *k != '\0'; k++) {
		char text[80];

		snprintf(text, sizeof(text),
			 "witness A $0\nwitness B $1\ngroup G %c A B\nquorum G\n", *k);
		assert_int_equal(parse(text), 0);
		trust_policy_clear(&policy);
	}
}

static void test_what_is_not_a_policy_is_refused_with_its_line(void **state)
{
	(void)state;
	refuses("", "no quorum line");
	refuses("quorum none\nquorum none\n", "line 2: a second quorum");
	refuses("quorum W\n", "line 1: a name that is not defined above: W");
	refuses("quorum\n", "expected: quorum");
	refuses("quorum none", "does not end in a line feed");
	refuses("log\n", "expected: log");
	refuses("log $L a b\n", "expected: log");
	refuses("log $L\nlog $L\nquorum none\n", "line 2: a key that another log has");
	refuses("log $0\nquorum none\n", "line 1: verifier key: its type is not 01");
	refuses("witness W $L\n", "line 1: verifier key: its type is not 04");
	refuses("witness W\n", "expected: witness");
	refuses("witness none $0\n", "\"none\" is no name");
	refuses("witness W $0\nwitness W $1\n", "line 2: a name that is taken: W");
	refuses("witness W $0\nwitness V $0\n", "line 2: a key that another witness has");
	refuses("group G all\n", "expected: group");
	refuses("group G all W\n", "not defined above: W");
	refuses("witness W $0\ngroup G all W W\n", "in a group already: W");
	refuses("witness W $0\ngroup G all W\ngroup H all W\n",
		"line 3: a name that is in a group");
	refuses("group G all G\n", "not defined above: G");
	refuses("witnesses W $0\n", "neither log, witness, group nor quorum: witnesses");
	refuses("quorum none\r\n", "a control character");
	assert_int_equal(trust_policy_parse("quorum\0none\n", 12, &policy, &err), -1);
	assert_string_equal(err.text, "policy: a NUL byte");
}

static void test_a_policy_is_bounded(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	while (text.len <= TRUST_POLICY_BYTES_MAX)
		buf_add_str(&text, "# comment\n");
	assert_int_equal(trust_policy_parse(text.bytes, text.len, &policy, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	buf_clear(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_policy_of_two_groups_is_met_by_the_right_witnesses),
		cmocka_unit_test(test_no_quorum_needs_nobody_and_one_witness_needs_that_one),
		cmocka_unit_test(test_thresholds_hold_from_one_to_the_number_of_members),
		cmocka_unit_test(test_what_is_not_a_policy_is_refused_with_its_line),
		cmocka_unit_test(test_a_policy_is_bounded),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, make_keys, NULL);
}
