/* writ audit: verdicts, exit codes and words, on logs of the real writer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "broker/audit/disclosure.h"
#include "cli/cmd_audit.h"
#include "tests/unit/audit_place.h"
#include "writ/record.h"

#define QUESTION "Which regions had the highest net sales last quarter?"

struct session {
	struct place *place;
	char path_answer[96];
	char path_pub[96];
	char *said; /* stdout of the last command */
	struct json *answer;
};

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void write_answer(struct session *session)
{
	struct buf text = BUF_INIT;

	json_write(session->answer, &text);
	write_file(session->path_answer, buf_str(&text));
	buf_clear(&text);
}

static uint64_t append_close(struct place *place, struct json **ret_disclosures)
{
	struct json *fields = parse("{\"ev\":\"task.close\",\"tx\":\"t-1\",\"st\":\"completed\"}");
	struct json *secrets = json_object();

	json_set_str(secrets, CM_QUESTION, QUESTION);
	json_set_str(secrets, CM_SQL, "SELECT 1");
	json_set(secrets, CM_RESULT,
		 parse("{\"columns\":[\"region\",\"net\"],\"rows\":[[\"East\",420.0],[\"West\","
		       "300.5]],\"row_count\":2,\"truncated\":false,\"types\":[\"text\",\"real\"]"
		       "}"));
	json_set_str(secrets, CM_ANSWER, "East 420.00");
	return audit_append(place->audit, fields, secrets, ret_disclosures);
}

/* A log of five records whose task t-1 has 2 and 3, and its answer file. */
static int setup(void **state)
{
	struct session *session = mem_alloc(sizeof(*session));
	struct place *place = place_new("/tmp");
	struct json *disclosures = NULL;
	struct json *audit = json_object();

	session->place = place;
	snprintf(session->path_answer, sizeof(session->path_answer), "%s/answer.json", place->root);
	snprintf(session->path_pub, sizeof(session->path_pub), "%s/audit.pub", place->root);
	if (place_open(place) < 0)
		return -1;
	place_append(place, "t-0");
	place_append(place, "t-1");
	assert_int_equal(append_close(place, &disclosures), 3);
	place_run(place);
	session->answer = parse("{\"status\":\"completed\",\"task\":\"t-1\",\"question_text\":"
				"\"" QUESTION "\",\"answer\":\"East 420.00\",\"columns\":"
				"[\"region\",\"net\"],\"types\":[\"text\",\"real\"],\"rows\":"
				"[[\"East\",420.0],[\"West\",300.5]],\"row_count\":2,"
				"\"truncated\":false,\"sql\":\"SELECT 1\"}");
	json_set_str(audit, "checkpoint", audit_checkpoint(place->audit));
	json_set(audit, "records", parse("[2,3]"));
	json_set(audit, "disclosures", disclosures);
	json_set(session->answer, "audit", audit);
	write_answer(session);
	place_append(place, "t-2");
	place_close(place);
	write_file(session->path_pub, "# key of the log\n");
	{
		FILE *file = fopen(session->path_pub, "a");

		fprintf(file, "%s\n", place->vkey_text);
		fclose(file);
	}
	*state = session;
	return 0;
}

static int teardown(void **state)
{
	struct session *session = *state;

	json_free(session->answer);
	mem_free(session->said);
	place_free(session->place);
	mem_free(session);
	return 0;
}

/* Runs `writ audit WORDS...` and keeps what it says; stderr goes nowhere. */
static int run(struct session *session, const char *const *words)
{
	char *argv[20] = {mem_str("audit")};
	char path[128];
	struct buf said = BUF_INIT;
	int argc = 1;
	int out = dup(STDOUT_FILENO);
	int err = dup(STDERR_FILENO);
	int fd;
	int code;

	for (; words[argc - 1] != NULL; argc++)
		argv[argc] = mem_str(words[argc - 1]);
	snprintf(path, sizeof(path), "%s/said", session->place->root);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	code = cmd_audit(argc, argv);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(fd);
	assert_int_equal(file_read_at(AT_FDCWD, path, 1 << 20, &said, NULL), 0);
	mem_free(session->said);
	session->said = buf_take(&said);
	for (int i = 0; i < argc; i++)
		mem_free(argv[i]);
	return code;
}

#define RUN(session, ...) run(session, (const char *const[]){__VA_ARGS__, NULL})

static void assert_says(struct session *session, const char *text)
{
	if (strstr(session->said, text) == NULL)
		fail_msg("\"%s\" is not in: %s", text, session->said);
}

static void test_with_the_pinned_key_the_log_is_signed(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;

	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub), EXIT_FINE);
	assert_says(session, "SIGNED");
	assert_says(session, "5 records, 5 below the signed head, 1 head compared");
	assert_says(session, "key            pinned by ");
	assert_says(session, "not proven     an event that was never recorded");
	assert_int_equal(RUN(session, "verify", place->dir, "--key", place->vkey_text), EXIT_FINE);
	assert_says(session, "pinned by the command line");
}

static void test_without_a_key_it_says_what_stays_unproven(void **state)
{
	struct session *session = *state;
	char fingerprint[SHA256_HEX_LEN + 1];

	assert_int_equal(RUN(session, "verify", session->place->dir), EXIT_UNSIGNED);
	assert_says(session, "UNSIGNED");
	assert_says(session, "no key was given from outside the log");
	vkey_fingerprint(&session->place->vkey, fingerprint);
	assert_says(session, fingerprint);
	assert_says(session, "pin it with --key");
}

static void test_a_key_beside_the_log_does_not_count(void **state)
{
	struct session *session = *state;
	char path[128];

	snprintf(path, sizeof(path), "%s/audit.pub", session->place->dir);
	write_file(path, session->place->vkey_text);
	assert_int_equal(RUN(session, "verify", session->place->dir, "--key", path), EXIT_UNSIGNED);
	assert_says(session, "lies beside the log");
}

static void test_a_workspace_gives_log_and_key(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;
	char path[128];

	assert_int_equal(mkdirat(place->root_fd, "state", 0700), 0);
	assert_int_equal(renameat(place->root_fd, "audit", place->root_fd, "state/audit"), 0);
	snprintf(path, sizeof(path), "%s/writ.yaml", place->root);
	write_file(path, "");
	assert_int_equal(RUN(session, "verify", "-C", place->root), EXIT_FINE);
	assert_says(session, "audit.pub, fingerprint");
	unlink(session->path_pub);
	assert_int_equal(RUN(session, "verify", "-C", place->root), EXIT_UNSIGNED);
	assert_says(session, "audit.pub is not there");
	assert_int_equal(RUN(session, "show", "-C", place->root), EXIT_FINE);
	assert_says(session, "log.open");
}

static void test_a_tampered_copy_is_caught_and_the_record_named(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;
	struct buf bytes = place_read(place, PLACE_LOG);

	strstr(bytes.bytes, "\"t-0\"")[1] = 'T';
	place_write(place, PLACE_LOG, bytes.bytes, bytes.len);
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub),
			 EXIT_TAMPERED);
	assert_says(session, "TAMPERED       record 1 was changed");
	buf_clear(&bytes);
}

static void test_a_cut_log_is_truncated_and_an_emptied_folder_too(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;
	struct buf bytes = place_read(place, PLACE_LOG);

	place_write(place, PLACE_LOG, bytes.bytes,
		    (size_t)(strrchr(bytes.bytes, '{') - bytes.bytes));
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub),
			 EXIT_TRUNCATED);
	assert_says(session, "4 of the 5 records");
	unlinkat(place->root_fd, "audit/" PLACE_LOG, 0);
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub),
			 EXIT_TRUNCATED);
	assert_says(session, "0 of the 5 records");
	unlinkat(place->root_fd, "audit/checkpoint", 0);
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub),
			 EXIT_INCONCLUSIVE);
	buf_clear(&bytes);
}

static void test_a_rolled_back_folder_is_caught_by_a_head_kept_elsewhere(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;
	struct buf bytes = place_read(place, PLACE_LOG);
	struct buf head = place_read(place, "checkpoint");
	const char *old = json_get_str(json_get(session->answer, "audit"), "checkpoint");
	char kept[128];

	snprintf(kept, sizeof(kept), "%s/kept", place->root);
	write_file(kept, head.bytes);
	place_write(place, "checkpoint", old, strlen(old));
	place_write(place, PLACE_LOG, bytes.bytes,
		    (size_t)(strrchr(bytes.bytes, '{') - bytes.bytes));
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub), EXIT_FINE);
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub,
			     "--checkpoint", kept),
			 EXIT_TRUNCATED);
	buf_clear(&bytes);
	buf_clear(&head);
}

static void test_a_tail_is_a_finding_unless_the_log_is_live(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;
	const char *old = json_get_str(json_get(session->answer, "audit"), "checkpoint");

	place_write(place, "checkpoint", old, strlen(old));
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub),
			 EXIT_UNSIGNED_TAIL);
	assert_int_equal(RUN(session, "verify", place->dir, "--key", session->path_pub, "--live"),
			 EXIT_FINE);
}

static int verify_answer(struct session *session)
{
	write_answer(session);
	return RUN(session, "verify", session->place->dir, "--key", session->path_pub, "--answer",
		   session->path_answer);
}

static void test_an_unchanged_answer_is_proven(void **state)
{
	struct session *session = *state;

	assert_int_equal(verify_answer(session), EXIT_FINE);
	assert_says(session, "ANSWER PROVEN  it is the one the log committed to");
	assert_says(session, "result: matches");
	assert_says(session, "2 heads compared");
}

static void test_a_number_rewritten_by_a_tool_is_the_same_number(void **state)
{
	struct session *session = *state;

	json_set(session->answer, "rows", parse("[[\"East\",420],[\"West\",3005e-1]]"));
	assert_int_equal(verify_answer(session), EXIT_FINE);
}

static void change(struct session *session, const char *member, const char *value,
		   const char *says_what)
{
	struct json *before = json_copy(json_get(session->answer, member));

	json_set(session->answer, member, parse(value));
	assert_int_equal(verify_answer(session), EXIT_TAMPERED);
	assert_says(session, "ANSWER CHANGED ");
	assert_says(session, says_what);
	json_set(session->answer, member, before);
}

static void test_a_changed_digit_is_named_with_its_place(void **state)
{
	struct session *session = *state;

	change(session, "rows", "[[\"East\",421.0],[\"West\",300.5]]",
	       "result rows[0][1]: the answer says 421, the log committed to 420");
	change(session, "rows", "[[\"East\",420.0]]",
	       "result rows[1]: the answer says nothing, the log committed to [\"West\",300.5]");
	change(session, "rows", "[[\"East\",420.0],[\"West\",300.5],[\"N\",1]]",
	       "result rows[2]: the answer says [\"N\",1], the log committed to nothing");
	change(session, "row_count", "3", "result row_count: the answer says 3");
	change(session, "answer", "\"East 421.00\"", "answer: the answer says \"East 421.00\"");
	change(session, "sql", "\"SELECT 2\"", "sql: the answer says \"SELECT 2\"");
	change(session, "question_text", "\"Else?\"", "question: the answer says \"Else?\"");
	change(session, "status", "\"failed\"", "the answer says its status is failed");
	change(session, "rows", "null", "result: the answer says nothing");
}

static void test_an_opening_that_is_not_of_the_record_is_refused(void **state)
{
	struct session *session = *state;
	struct json *audit = json_get_mut(session->answer, "audit");
	static const uint8_t salt[16] = {1};
	struct json *value = json_new_str("East 999");
	struct json *list = json_array();
	struct buf forged = BUF_INIT;

	disclosure_make(CM_ANSWER, value, salt, &forged);
	json_push_str(list, forged.bytes);
	json_set(audit, "disclosures", list);
	json_set_str(session->answer, "answer", "East 999");
	assert_int_equal(verify_answer(session), EXIT_TAMPERED);
	assert_says(session, "the opening of \"answer\" in the answer is not one that record 3 "
			     "committed to");
	json_free(value);
	buf_clear(&forged);
}

static void test_an_answer_without_openings_is_not_proven(void **state)
{
	struct session *session = *state;

	json_remove(json_get_mut(session->answer, "audit"), "disclosures");
	assert_int_equal(verify_answer(session), EXIT_INCONCLUSIVE);
	assert_says(session, "result: the answer carries no opening for it");
	assert_says(session, "ANSWER OPEN");
}

static void test_an_answer_of_another_task_or_with_other_records_is_refused(void **state)
{
	struct session *session = *state;

	json_set(json_get_mut(session->answer, "audit"), "records", parse("[1,2,3]"));
	assert_int_equal(verify_answer(session), EXIT_TAMPERED);
	assert_says(session, "record 1, which the answer lists, is not of task t-1");
	json_set(json_get_mut(session->answer, "audit"), "records", parse("[2,3,99]"));
	assert_int_equal(verify_answer(session), EXIT_TAMPERED);
	assert_says(session, "2 of the 3 records that the answer lists are in the log");
	json_set(json_get_mut(session->answer, "audit"), "records", parse("[]"));
	json_set_str(session->answer, "task", "t-9");
	assert_int_equal(verify_answer(session), EXIT_TAMPERED);
	assert_says(session, "the log has no task.close record of task t-9");
}

static void test_an_answer_proves_that_the_log_was_longer(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;
	struct buf bytes = place_read(place, PLACE_LOG);
	const char *feed = strchr(bytes.bytes, '\n');

	/* Everything thrown away but log.open, and no head left. */
	place_write(place, PLACE_LOG, bytes.bytes, (size_t)(feed + 1 - bytes.bytes));
	unlinkat(place->root_fd, "audit/checkpoint", 0);
	assert_int_equal(verify_answer(session), EXIT_TRUNCATED);
	assert_says(session, "1 of the 4 records that the answer's checkpoint counts are there");
	buf_clear(&bytes);
}

static void test_without_a_key_an_answer_fits_but_is_not_proven(void **state)
{
	struct session *session = *state;

	assert_int_equal(
		RUN(session, "verify", session->place->dir, "--answer", session->path_answer),
		EXIT_UNSIGNED);
	assert_says(session, "ANSWER FITS");
}

static void test_json_says_the_same(void **state)
{
	struct session *session = *state;
	struct json *out;

	write_answer(session);
	assert_int_equal(RUN(session, "verify", session->place->dir, "--key", session->path_pub,
			     "--answer", session->path_answer, "--json"),
			 EXIT_FINE);
	out = parse(session->said);
	assert_int_equal(json_get_int(out, "exit_code", -1), 0);
	assert_string_equal(json_get_str(json_at(json_get(out, "verdicts"), 0), "verdict"),
			    "ANCHORED");
	assert_string_equal(json_get_str(json_at(json_get(out, "verdicts"), 1), "verdict"),
			    "SIGNED");
	assert_int_equal(json_get_int(out, "records", -1), 5);
	assert_true(json_is_null(json_get(out, "bad_record")));
	assert_string_equal(json_get_str(json_get(out, "key"), "name"), PLACE_ORIGIN);
	assert_true(json_get_bool(json_get(out, "answer"), "proven", false));
	assert_string_equal(json_get_str(json_get(json_get(out, "answer"), "fields"), "result"),
			    "matches");
	assert_int_equal(json_len(json_get(out, "not_proven")), 4);
	json_free(out);
}

static void test_wrong_usage_and_missing_files_have_their_codes(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;

	assert_int_equal(RUN(session, "check"), EXIT_USAGE);
	assert_says(session, "no subcommand check");
	assert_int_equal(RUN(session, "verify", "--nonsense"), EXIT_USAGE);
	assert_int_equal(RUN(session, "verify", "--key"), EXIT_USAGE);
	assert_says(session, "--key needs a value");
	assert_int_equal(RUN(session, "verify", "a", "b"), EXIT_USAGE);
	assert_int_equal(RUN(session, "verify", "/nonexistent"), EXIT_USAGE);
	assert_says(session, "No such file or directory");
	assert_int_equal(RUN(session, "verify", place->dir, "--key", "no+such+key"), EXIT_USAGE);
	assert_says(session, "verifier key");
	assert_int_equal(RUN(session, "verify", place->dir, "--key", "/nonexistent"), EXIT_USAGE);
	assert_int_equal(RUN(session, "verify", place->dir, "--checkpoint", "/nonexistent"),
			 EXIT_USAGE);
	write_file(session->path_answer, "{\"task\":1}");
	assert_int_equal(RUN(session, "verify", place->dir, "--answer", session->path_answer),
			 EXIT_USAGE);
	assert_says(session, "no answer of `writ ask --json`");
	assert_int_equal(RUN(session, "verify", "--help"), EXIT_FINE);
	assert_says(session, "usage: writ audit verify");
}

static void test_show_lists_the_records_of_one_task(void **state)
{
	struct session *session = *state;
	struct place *place = session->place;

	assert_int_equal(RUN(session, "show", place->dir, "--list", "--task=t-1"), EXIT_FINE);
	assert_says(session, "     2  20");
	assert_says(session, "task.close        completed  4 commitments\n");
	assert_null(strstr(session->said, "log.open"));
	assert_int_equal(RUN(session, "show", place->dir, "--json", "--task", "t-1"), EXIT_FINE);
	assert_int_equal(strncmp(session->said, "{\"_prev\":\"", 10), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_with_the_pinned_key_the_log_is_signed),
		CASE(test_without_a_key_it_says_what_stays_unproven),
		CASE(test_a_key_beside_the_log_does_not_count),
		CASE(test_a_workspace_gives_log_and_key),
		CASE(test_a_tampered_copy_is_caught_and_the_record_named),
		CASE(test_a_cut_log_is_truncated_and_an_emptied_folder_too),
		CASE(test_a_rolled_back_folder_is_caught_by_a_head_kept_elsewhere),
		CASE(test_a_tail_is_a_finding_unless_the_log_is_live),
		CASE(test_an_unchanged_answer_is_proven),
		CASE(test_a_number_rewritten_by_a_tool_is_the_same_number),
		CASE(test_a_changed_digit_is_named_with_its_place),
		CASE(test_an_opening_that_is_not_of_the_record_is_refused),
		CASE(test_an_answer_without_openings_is_not_proven),
		CASE(test_an_answer_of_another_task_or_with_other_records_is_refused),
		CASE(test_an_answer_proves_that_the_log_was_longer),
		CASE(test_without_a_key_an_answer_fits_but_is_not_proven),
		CASE(test_json_says_the_same),
		CASE(test_wrong_usage_and_missing_files_have_their_codes),
		CASE(test_show_lists_the_records_of_one_task),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
