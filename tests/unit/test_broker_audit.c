/* What auditors ask of the broker: who may, what is recorded of it, and what comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "broker/audit/disclosure.h"
#include "broker/audit/proof.h"
#include "broker_fixture.h"
#include "writ/record.h"

static void check_error(struct fx *fx, struct channel *channel, const char *method,
			const char *params, const char *kind, const char *text)
{
	struct json *answer = fx_call(fx, channel, method, params);
	const struct json *error = json_get(answer, "error");

	if (error == NULL || strcmp(json_get_str(error, "kind"), kind) != 0 ||
	    strstr(json_get_str(error, "text"), text) == NULL)
		fail_msg("%s %s: %s", method, params,
			 error == NULL ? "no error" : json_get_str(error, "text"));
	json_free(answer);
}

static struct fx_end *connect_as(struct fx *fx, const char *name, const char *groups, bool owner)
{
	fx_set_user(fx, name, groups, owner);
	return fx_connect(fx, NULL, 0);
}

static void name_auditors(struct fx *fx, const char *text)
{
	json_free(fx->broker.config->audit);
	if (json_parse_str(text, &fx->broker.config->audit, NULL) < 0)
		fail();
}

static void test_only_the_owner_and_named_auditors_may(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct json *record;

	(void)state;
	name_auditors(fx, "{\"auditors\":[\"group:audit\",\"user:carol\"]}");
	check_error(fx, connect_as(fx, "alice", "[\"sales\"]", false)->channel, "audit.note",
		    "{\"event\":\"read\"}", "denied", "audit.auditors of writ.yaml");
	record = fx_record(fx, EV_CHANNEL_REFUSED);
	assert_string_equal(json_get_str(record, REC_CODE), "not_an_auditor");
	json_free(record);
	json_free(fx_ok(fx, connect_as(fx, "olga", "[]", true)->channel, "audit.note",
			"{\"event\":\"read\"}"));
	json_free(fx_ok(fx, connect_as(fx, "carol", "[]", false)->channel, "audit.note",
			"{\"event\":\"read\"}"));
	json_free(fx_ok(fx, connect_as(fx, "dave", "[\"audit\"]", false)->channel, "audit.note",
			"{\"event\":\"read\"}"));
	assert_int_equal(fx_record_count(fx, EV_READ), 3);
	fx_close(fx);
}

static void test_reading_is_recorded_before_the_lines_come(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *owner = connect_as(fx, "olga", "[]", true)->channel;
	struct json *result;
	struct json *record;

	(void)state;
	check_error(fx, owner, "audit.lines", "{\"from\":0}", "denied",
		    "audit.note with read or export comes first");
	json_free(fx_ok(fx, owner, "audit.note", "{\"event\":\"verify\",\"status\":\"SIGNED\"}"));
	check_error(fx, owner, "audit.lines", "{\"from\":0}", "denied", "comes first");
	check_error(fx, owner, "audit.note", "{\"event\":\"look\"}", "invalid",
		    "read, verify or export");
	result = fx_ok(fx, owner, "audit.note",
		       "{\"event\":\"export\",\"from\":0,\"to\":5,\"format\":\"jsonl\",\"filter\":"
		       "\"all of alice\"}");
	record = fx_record(fx, EV_EXPORT);
	assert_int_equal(json_get_int(record, "_seq", -1), json_get_int(result, "record", 0));
	assert_int_equal(json_get_int(record, REC_TO, 0), 5);
	assert_string_equal(json_get_str(record, REC_FORMAT), "jsonl");
	assert_int_equal(json_len(json_get(record, REC_COMMITS)), 2); /* user, filter */
	json_free(record);
	json_free(result);
	result = fx_ok(fx, owner, "audit.lines", "{\"from\":0}");
	assert_int_equal(json_len(json_get(result, "lines")), json_get_int(result, "next", 0));
	assert_non_null(
		strstr(json_str(json_at(json_get(result, "lines"), 0)), "\"ev\":\"log.open\""));
	assert_non_null(strstr(json_get_str(result, "checkpoint"), "\n"));
	json_free(result);
	/* One byte: one line at a time, whatever its length. */
	for (int64_t from = 0; from < 4; from++) {
		char params[64];
		char want[64];

		snprintf(params, sizeof(params), "{\"from\":%lld,\"bytes\":1}", (long long)from);
		snprintf(want, sizeof(want), "\"_seq\":%lld,", (long long)from);
		result = fx_ok(fx, owner, "audit.lines", params);
		assert_int_equal(json_len(json_get(result, "lines")), 1);
		assert_non_null(strstr(json_str(json_at(json_get(result, "lines"), 0)), want));
		assert_int_equal(json_get_int(result, "next", 0), from + 1);
		json_free(result);
	}
	check_error(fx, owner, "audit.lines", "{\"from\":100000}", "not_found", "not there yet");
	fx_close(fx);
}

static void test_an_opening_is_shown_redacted_and_gone(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *owner = connect_as(fx, "olga", "[]", true)->channel;
	struct json *record = fx_record(fx, EV_SESSION_OPEN);
	int64_t seq = json_get_int(record, "_seq", -1);
	char params[160];
	char digest[DISCLOSURE_DIGEST_LEN + 1];
	struct json *result;
	const char *text;

	(void)state;
	snprintf(params, sizeof(params), "{\"record\":%lld}", (long long)seq);
	result = fx_ok(fx, owner, "audit.openings", params);
	assert_int_equal(json_len(json_get(result, "disclosures")), 1);
	text = json_str(json_at(json_get(result, "disclosures"), 0));
	disclosure_digest(text, strlen(text), digest);
	assert_string_equal(json_str(json_at(json_get(record, REC_COMMITS), 0)), digest);
	json_free(record);
	json_free(result);
	record = fx_record(fx, EV_READ);
	assert_int_equal(json_get_int(record, REC_OF, -1), seq);
	assert_string_equal(json_get_str(record, REC_CODE), "openings");
	json_free(record);

	check_error(fx, owner, "audit.redact", params, "invalid", "name");
	snprintf(params, sizeof(params), "{\"record\":%lld,\"name\":\"user\"}", (long long)seq);
	check_error(fx, owner, "audit.redact", params, "invalid", "say why");
	assert_int_equal(fx_record_count(fx, EV_REDACT), 0);
	snprintf(params, sizeof(params),
		 "{\"record\":%lld,\"name\":\"user\",\"reason\":\"asked to be forgotten\"}",
		 (long long)seq);
	result = fx_ok(fx, owner, "audit.redact", params);
	assert_true(json_get_bool(result, "erased", false));
	record = fx_record(fx, EV_REDACT);
	assert_int_equal(json_get_int(record, "_seq", -1), json_get_int(result, "record", 0));
	assert_int_equal(json_get_int(record, REC_OF, -1), seq);
	assert_string_equal(json_get_str(record, REC_NAME), "user");
	json_free(record);
	json_free(result);
	result = fx_ok(fx, owner, "audit.redact", params);
	assert_false(json_get_bool(result, "erased", true));
	json_free(result);
	snprintf(params, sizeof(params), "{\"record\":%lld}", (long long)seq);
	result = fx_ok(fx, owner, "audit.openings", params);
	assert_int_equal(json_len(json_get(result, "disclosures")), 0);
	json_free(result);
	check_error(fx, owner, "audit.openings", "{\"record\":100000}", "not_found",
		    "there is no record 100000");
	fx_close(fx);
}

static void test_a_proof_is_one_of_the_newest_head(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *owner = connect_as(fx, "olga", "[]", true)->channel;
	struct json *result = fx_ok(fx, owner, "audit.note", "{\"event\":\"read\"}");
	const char *text;
	struct proof proof;
	const char *note;
	size_t len;
	uint64_t index = 9;
	struct err err;

	(void)state;
	json_free(result);
	result = fx_ok(fx, owner, "audit.prove", "{\"record\":0}");
	text = json_get_str(result, "proof");
	assert_int_equal(proof_read(text, strlen(text), &proof, &index, &note, &len, &err), 0);
	assert_int_equal(index, 0);
	assert_true(proof.count > 0);
	assert_string_equal(note, audit_checkpoint(fx->broker.audit));
	json_free(result);
	check_error(fx, owner, "audit.prove", "{\"record\":-1}", "invalid", "record");
	fx_close(fx);
}

static void test_holds_and_anchors_are_recorded(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *owner = connect_as(fx, "olga", "[]", true)->channel;
	struct json *record;

	(void)state;
	check_error(fx, owner, "audit.hold", "{\"name\":\"case 7\",\"reason\":\"x\"}", "invalid",
		    "letters, digits");
	json_free(fx_ok(fx, owner, "audit.hold",
			"{\"name\":\"case-7\",\"reason\":\"a dispute\",\"from\":2,\"to\":9}"));
	record = fx_record(fx, EV_HOLD);
	assert_string_equal(json_get_str(record, REC_HOLD), "case-7");
	assert_string_equal(json_get_str(record, REC_STATUS), "set");
	assert_int_equal(json_get_int(record, REC_TO, 0), 9);
	json_free(record);
	json_free(fx_ok(fx, owner, "audit.hold",
			"{\"name\":\"case-7\",\"reason\":\"settled\",\"lift\":true}"));
	check_error(fx, owner, "audit.hold",
		    "{\"name\":\"case-7\",\"reason\":\"again\",\"lift\":true}", "not_found",
		    "no hold is called case-7");
	json_free(
		fx_ok(fx, owner, "audit.anchor",
		      "{\"checkpoint\":\"o\\n1\\nr\\n\",\"place\":\"file:/x\",\"reply\":\"ok\"}"));
	record = fx_record(fx, EV_ANCHOR);
	assert_int_equal(json_len(json_get(record, REC_COMMITS)), 2); /* user, place */
	json_free(record);
	fx_close(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_the_owner_and_named_auditors_may),
		cmocka_unit_test(test_reading_is_recorded_before_the_lines_come),
		cmocka_unit_test(test_an_opening_is_shown_redacted_and_gone),
		cmocka_unit_test(test_a_proof_is_one_of_the_newest_head),
		cmocka_unit_test(test_holds_and_anchors_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
