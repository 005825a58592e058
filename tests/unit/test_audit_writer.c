/* The writer: durable appending, starts after clean and unclean stops, and faults of the disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/db.h"
#include "broker/audit/disclosure.h"
#include "tests/unit/audit_place.h"

static struct audit_report report;

static int setup(void **state)
{
	/* Hundreds of starts, each with a dozen syncs: in memory if that is to be had. */
	*state = place_new(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	return 0;
}

static int teardown(void **state)
{
	place_free(*state);
	return 0;
}

static void open_ok(struct place *place)
{
	if (place_open(place) < 0)
		fail_msg("%s", place->err.text);
}

/* A log of log.open and count records, stopped cleanly. */
static void make_log(struct place *place, int count)
{
	open_ok(place);
	for (int i = 0; i < count; i++)
		place_append(place, "task-1");
	place_run(place);
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	place->answered = 0;
}

static void test_a_new_log_begins_with_log_open_and_verifies(void **state)
{
	struct place *place = *state;
	struct buf bytes;

	open_ok(place);
	assert_true(place->opened.created);
	assert_false(place->opened.from_tail);
	assert_int_equal(place->opened.size, 0);
	assert_null(place->opened.checkpoint);
	assert_int_equal(place_append(place, "task-1"), 1);
	assert_int_equal(place->answered, 0);
	place_run(place);
	assert_int_equal(place->answered, 1);
	assert_int_equal(audit_size(place->audit), 2);
	assert_non_null(strstr(audit_checkpoint(place->audit), PLACE_ORIGIN "\n2\n"));
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.signed_size, 2);
	bytes = place_read(place, PLACE_LOG);
	assert_non_null(strstr(bytes.bytes, "\"ev\":\"log.open\""));
	assert_non_null(strstr(bytes.bytes, "\"og\":\"" PLACE_ORIGIN "\""));
	assert_non_null(strstr(bytes.bytes, place->vkey_text));
	buf_clear(&bytes);
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
}

static void test_records_of_one_turn_share_one_write_and_one_head(void **state)
{
	struct place *place = *state;

	open_ok(place);
	for (int i = 0; i < 300; i++)
		place_append(place, "task-1");
	place_run(place);
	assert_int_equal(place->answered, 300);
	assert_int_equal(place->heads_signed, 1);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	place_close(place);
}

static struct place *chain_place;
static int chain_left;

static void on_chain(void *data, const struct err *err)
{
	(void)data;
	assert_null(err);
	if (chain_left-- > 0) {
		struct json *fields = json_object();

		json_set_str(fields, "ev", "tool.result");
		audit_when_durable(chain_place->audit,
				   audit_append(chain_place->audit, fields, NULL, NULL), on_chain,
				   NULL);
	}
}

static void test_an_answer_may_append_the_next_record(void **state)
{
	struct place *place = *state;

	open_ok(place);
	chain_place = place;
	chain_left = 20;
	audit_when_durable(place->audit, 0, on_chain, NULL);
	place_run(place);
	assert_int_equal(chain_left, -1);
	assert_int_equal(audit_size(place->audit), 21);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	place_close(place);
}

static void test_what_is_durable_already_is_answered_later_all_the_same(void **state)
{
	struct place *place = *state;

	open_ok(place);
	place_run(place);
	audit_when_durable(place->audit, 0, place_on_durable, place);
	assert_int_equal(place->answered, 0);
	place_run(place);
	assert_int_equal(place->answered, 1);
	place_close(place);
}

static void test_secrets_are_committed_and_their_openings_kept(void **state)
{
	struct place *place = *state;
	struct json *fields = json_object();
	struct json *secrets = json_object();
	struct json *disclosures = NULL;
	struct disclosure opened;
	struct db_stmt *stmt = NULL;
	struct db *db = NULL;
	char path[128];
	char digest[DISCLOSURE_DIGEST_LEN + 1];
	struct buf bytes;
	uint64_t seq;

	open_ok(place);
	json_set_str(fields, "ev", "task.close");
	json_set_str(secrets, "question", "Which region?");
	json_set_str(secrets, "user", "alice");
	seq = audit_append(place->audit, fields, secrets, &disclosures);
	assert_int_equal(seq, 1);
	assert_int_equal(json_len(disclosures), 2);
	place_run(place);
	bytes = place_read(place, PLACE_LOG);
	assert_null(strstr(bytes.bytes, "alice"));
	json_each(item, disclosures)
	{
		disclosure_digest(json_str(item), strlen(json_str(item)), digest);
		assert_non_null(strstr(bytes.bytes, digest));
	}
	assert_int_equal(disclosure_open(json_str(json_at(disclosures, 0)),
					 strlen(json_str(json_at(disclosures, 0))), &opened,
					 &place->err),
			 0);
	assert_string_equal(opened.name, "question");
	assert_string_equal(json_str(opened.value), "Which region?");
	disclosure_clear(&opened);
	place_close(place);
	snprintf(path, sizeof(path), "%s/openings.db", place->dir);
	assert_int_equal(db_open(path, DB_SYNC_NORMAL, NULL, 2, &db, &place->err), 0);
	assert_int_equal(db_query(db,
				  "SELECT name, disclosure FROM opening WHERE seq = 1 ORDER BY 1",
				  &stmt, &place->err),
			 0);
	assert_int_equal(db_step(stmt, &place->err), 1);
	assert_string_equal(db_str(stmt, 0), "question");
	assert_string_equal(db_str(stmt, 1), json_str(json_at(disclosures, 0)));
	assert_int_equal(db_step(stmt, &place->err), 1);
	assert_int_equal(db_step(stmt, &place->err), 0);
	db_done(stmt);
	db_close(db);
	json_free(disclosures);
	buf_clear(&bytes);
}

static void test_fields_that_make_no_record_do_not_stop_the_log(void **state)
{
	struct place *place = *state;
	struct json *fields = json_object();
	uint64_t seq;

	open_ok(place);
	json_set_real(fields, "ev", 1.5);
	seq = audit_append(place->audit, fields, NULL, NULL);
	assert_true(seq == UINT64_MAX);
	audit_when_durable(place->audit, seq, place_on_durable, place);
	assert_int_equal(place_append(place, "task-1"), 1);
	place_run(place);
	assert_int_equal(place->failed, 1);
	assert_int_equal(place->answered, 1);
	assert_int_equal(place->last_failure.kind, ERR_INVALID);
	assert_non_null(strstr(place->last_failure.text, "a number that is no integer"));
	assert_false(audit_stopped(place->audit, NULL));
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_a_clean_stop_leaves_a_tail_and_the_next_start_reads_no_more(void **state)
{
	struct place *place = *state;

	make_log(place, 5);
	assert_true(place_has(place, "tail"));
	open_ok(place);
	assert_true(place->opened.from_tail);
	assert_int_equal(place->opened.size, 6);
	assert_non_null(strstr(place->opened.checkpoint, "\n6\n"));
	assert_int_equal(place_append(place, "task-2"), 6);
	place_run(place);
	assert_false(place_has(place, "tail"));
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.records, 7);
}

static void test_a_start_that_writes_nothing_leaves_the_tail_as_it_was(void **state)
{
	struct place *place = *state;
	struct buf before;
	struct buf after;

	make_log(place, 5);
	before = place_read(place, "tail");
	open_ok(place);
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	after = place_read(place, "tail");
	assert_string_equal(buf_str(&before), buf_str(&after));
	buf_clear(&before);
	buf_clear(&after);
}

static void test_a_tail_that_does_not_fit_is_not_used(void **state)
{
	static const char *const damages[] = {"signature", "peaks", "state", "last"};
	struct place *place = *state;

	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		struct buf tail;

		if (i == 0)
			make_log(place, 5);
		tail = place_read(place, "tail");
		tail.bytes[tail.len - 10 - 70 * i] ^= 1;
		place_write(place, "tail", tail.bytes, tail.len);
		buf_clear(&tail);
		open_ok(place);
		assert_false(place->opened.from_tail);
		assert_int_equal(place->opened.size, 6 + i);
		place_append(place, "task-2");
		place_run(place);
		place_close(place);
		open_ok(place);
		assert_true(place->opened.from_tail);
		place_close(place);
	}
}

static void test_a_changed_last_record_is_seen_even_with_a_tail(void **state)
{
	struct place *place = *state;
	struct buf bytes;

	make_log(place, 3);
	bytes = place_read(place, PLACE_LOG);
	*strrchr(bytes.bytes, '-') = '+'; /* of task-1 */
	place_write(place, PLACE_LOG, bytes.bytes, bytes.len);
	assert_int_equal(place_open(place), -1);
	assert_int_equal(place->err.kind, ERR_INVALID);
	assert_non_null(strstr(place->err.text, "the log is damaged (TAMPERED)"));
	assert_non_null(strstr(place->err.text, "nothing was changed"));
	buf_clear(&bytes);
}

static void test_a_second_writer_is_refused_while_the_first_runs(void **state)
{
	struct place *place = *state;
	struct audit *first;

	open_ok(place);
	first = place->audit;
	assert_int_equal(place_open_again(place), -1);
	assert_int_equal(place->err.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(place->err.text, "another service writes this log"));
	place->audit = first;
	place_append(place, "task-1");
	place_run(place);
	assert_int_equal(place->answered, 1);
	place_close(place);
	open_ok(place);
	place_close(place);
}

static void test_after_a_kill_records_behind_the_head_stay_and_are_signed(void **state)
{
	struct place *place = *state;
	struct buf old_head;

	open_ok(place);
	place_run(place);
	old_head = place_read(place, "checkpoint");
	for (int i = 0; i < 3; i++)
		place_append(place, "task-1");
	place_run(place);
	place_kill(place);
	/* As if the newer head had not reached the disk. */
	place_write(place, "checkpoint", old_head.bytes, old_head.len);
	buf_clear(&old_head);
	open_ok(place);
	assert_false(place->opened.from_tail);
	assert_int_equal(place->opened.size, 4);
	assert_int_equal(place->resumed, 1);
	place_run(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.signed_size, 4);
	place_close(place);
}

static void test_a_kill_before_the_first_head_is_no_damage(void **state)
{
	struct place *place = *state;

	open_ok(place);
	place_append(place, "task-1");
	place_run(place);
	place_kill(place);
	unlinkat(place->root_fd, "audit/checkpoint", 0);
	open_ok(place);
	assert_int_equal(place->opened.size, 2);
	assert_false(place->opened.created);
	place_run(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	place_close(place);
}

static void test_a_tail_torn_at_each_byte_is_cut_and_recorded(void **state)
{
	struct place *place = *state;
	struct buf good;
	struct buf head;
	char torn[512];

	make_log(place, 3);
	good = place_read(place, PLACE_LOG);
	head = place_read(place, "checkpoint");
	unlinkat(place->root_fd, "audit/tail", 0);
	snprintf(torn, sizeof(torn), "%.*s", 200, strrchr(good.bytes, '{'));
	for (size_t len = 1; len <= strlen(torn) - 1; len++) {
		struct buf bytes = BUF_INIT;

		buf_add(&bytes, good.bytes, good.len);
		buf_add(&bytes, torn, len);
		place_write(place, PLACE_LOG, bytes.bytes, bytes.len);
		place_write(place, "checkpoint", head.bytes, head.len);
		open_ok(place);
		assert_int_equal(place->opened.recovered_bytes, len);
		assert_int_equal(place->opened.size, 4);
		place_append(place, "task-2");
		place_run(place);
		assert_int_equal(place_verify(place, &report), EXIT_FINE);
		assert_int_equal(report.records, 6);
		buf_clear(&bytes);
		bytes = place_read(place, PLACE_LOG);
		assert_non_null(strstr(bytes.bytes, "\"ev\":\"log.recovered\""));
		buf_clear(&bytes);
		place_close(place);
	}
	buf_clear(&good);
	buf_clear(&head);
}

static void test_nuls_behind_the_log_are_cut_and_kept_aside(void **state)
{
	static const size_t lengths[] = {1, 511, 512, 4096, 100000};
	struct place *place = *state;

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		char *nuls = mem_alloc(lengths[i]);
		struct buf bytes;
		DIR *dir;
		int kept = 0;

		if (i == 0)
			make_log(place, 3);
		bytes = place_read(place, PLACE_LOG);
		buf_add(&bytes, nuls, lengths[i]);
		place_write(place, PLACE_LOG, bytes.bytes, bytes.len);
		buf_clear(&bytes);
		mem_free(nuls);
		open_ok(place);
		assert_int_equal(place->opened.recovered_bytes, lengths[i]);
		place_close(place);
		assert_int_equal(place_verify(place, &report), EXIT_FINE);
		dir = opendir(place->dir);
		for (const struct dirent *entry; (entry = readdir(dir)) != NULL;)
			kept += strncmp(entry->d_name, "torn-", 5) == 0;
		closedir(dir);
		assert_int_equal(kept, i + 1);
	}
}

/* The log as given must be refused, and every file must stay as it is. */
static void assert_refused_untouched(struct place *place, const struct buf *bytes, const char *why)
{
	struct buf head = place_read(place, "checkpoint");
	struct buf after;

	place_write(place, PLACE_LOG, bytes->bytes, bytes->len);
	assert_int_equal(place_open(place), -1);
	assert_int_equal(place->err.kind, ERR_INVALID);
	if (strstr(place->err.text, why) == NULL)
		fail_msg("%s", place->err.text);
	after = place_read(place, PLACE_LOG);
	assert_int_equal(after.len, bytes->len);
	assert_memory_equal(after.bytes, bytes->bytes, bytes->len);
	buf_clear(&after);
	after = place_read(place, "checkpoint");
	assert_string_equal(buf_str(&after), buf_str(&head));
	buf_clear(&after);
	buf_clear(&head);
}

static void test_a_log_cut_below_its_head_is_refused_and_left_as_it_is(void **state)
{
	struct place *place = *state;
	struct buf bytes;

	make_log(place, 3);
	bytes = place_read(place, PLACE_LOG);
	bytes.len = (size_t)(strrchr(bytes.bytes, '{') - bytes.bytes);
	assert_refused_untouched(
		place, &bytes, "(TRUNCATED): 3 of the 4 records that checkpoint counts are there");
	bytes.len += 100; /* cut within the last record */
	assert_refused_untouched(place, &bytes, "(TRUNCATED)");
	bytes.len -= 100;
	buf_reset(&bytes);
	buf_add_str(&bytes, "");
	unlinkat(place->root_fd, "audit/" PLACE_LOG, 0);
	assert_int_equal(place_open(place), -1);
	assert_int_equal(place->err.kind, ERR_INVALID);
	assert_non_null(
		strstr(place->err.text, "the log is missing, but checkpoint counts 4 records"));
	assert_false(place_has(place, PLACE_LOG));
	buf_clear(&bytes);
}

static void test_a_flipped_bit_anywhere_is_refused_and_left_as_it_is(void **state)
{
	struct place *place = *state;
	struct buf bytes;

	make_log(place, 2);
	unlinkat(place->root_fd, "audit/tail", 0); /* as after a kill */
	bytes = place_read(place, PLACE_LOG);
	for (size_t i = 0; i < bytes.len; i += 7) {
		bytes.bytes[i] ^= 4;
		assert_refused_untouched(place, &bytes, "the log is damaged");
		bytes.bytes[i] ^= 4;
	}
	buf_clear(&bytes);
}

static void test_a_changed_line_feed_behind_the_head_is_no_torn_tail(void **state)
{
	struct place *place = *state;
	struct buf bytes;
	struct buf head;
	char *feed;

	open_ok(place);
	place_run(place);
	head = place_read(place, "checkpoint");
	place_append(place, "task-1");
	place_append(place, "task-1");
	place_run(place);
	place_kill(place);
	place_write(place, "checkpoint", head.bytes, head.len);
	bytes = place_read(place, PLACE_LOG);
	bytes.len--; /* the last line is torn at its line feed */
	bytes.bytes[bytes.len] = '\0';
	feed = strrchr(bytes.bytes, '\n');
	*feed = ' ';
	assert_refused_untouched(place, &bytes,
				 "behind its last line feed more than one record begins");
	buf_clear(&bytes);
	buf_clear(&head);
}

static void test_a_checkpoint_that_is_not_ours_is_refused(void **state)
{
	struct place *place = *state;
	struct buf head;

	make_log(place, 2);
	head = place_read(place, "checkpoint");
	*(strchr(strstr(head.bytes, "\n\n") + 2, '\n') - 9) ^= 1; /* in the first signature */
	place_write(place, "checkpoint", head.bytes, head.len);
	assert_int_equal(place_open(place), -1);
	assert_int_equal(place->err.kind, ERR_INVALID);
	assert_non_null(strstr(place->err.text, "checkpoint is no head of this log signed by its "
						"key " PLACE_ORIGIN));
	place_write(place, "checkpoint", "", 0);
	assert_int_equal(place_open(place), -1);
	assert_int_equal(place->err.kind, ERR_INVALID);
	buf_clear(&head);
}

static void test_a_folder_open_to_others_is_refused(void **state)
{
	struct place *place = *state;

	make_log(place, 1);
	assert_int_equal(chmod(place->dir, 0755), 0);
	assert_int_equal(place_open(place), -1);
	assert_int_equal(place->err.kind, ERR_DENIED);
}

static void test_the_origin_must_be_that_of_the_key(void **state)
{
	struct place *place = *state;
	struct audit_options options = {
		.dir = place->dir, .origin = "other", .vkey = place->vkey_text};

	assert_int_equal(
		audit_open(&place->loop, &options, &place->audit, &place->opened, &place->err), -1);
	assert_non_null(strstr(place->err.text, "the log's key is named " PLACE_ORIGIN));
}

/* After a failure: every waiter got the error, later ones get it too, and nothing is queued. */
static void assert_stopped(struct place *place, int waiters, const char *why)
{
	struct err err = {0};

	assert_int_equal(place->failed, waiters);
	assert_true(audit_stopped(place->audit, &err));
	if (strstr(err.text, why) == NULL)
		fail_msg("%s", err.text);
	assert_non_null(strstr(err.text, "Mend the cause and start the service again"));
	assert_string_equal(place->last_failure.text, err.text);
	assert_true(place_append(place, "task-9") == UINT64_MAX);
	audit_when_durable(place->audit, 0, place_on_durable, place);
	place_run(place);
	assert_int_equal(place->failed, waiters + 1); /* record 0 was durable before */
	place_close(place);
	assert_string_equal(place->close_err.text, err.text);
}

static ssize_t fail_write(int fd, const void *bytes, size_t len)
{
	(void)fd;
	(void)bytes;
	(void)len;
	errno = EIO;
	return -1;
}

static int short_writes;

static ssize_t short_then_full(int fd, const void *bytes, size_t len)
{
	if (short_writes++ == 0)
		return write(fd, bytes, len / 2);
	if (short_writes == 2) {
		errno = EINTR;
		return -1;
	}
	return write(fd, bytes, len);
}

static ssize_t half_then_no_space(int fd, const void *bytes, size_t len)
{
	if (short_writes++ == 0)
		return write(fd, bytes, len / 2);
	errno = ENOSPC;
	return -1;
}

static int fail_sync(int fd)
{
	(void)fd;
	errno = EIO;
	return -1;
}

static void test_short_writes_and_interruptions_are_gone_on_with(void **state)
{
	struct place *place = *state;

	open_ok(place);
	short_writes = 0;
	place->audit->file.io.write = short_then_full;
	place_append(place, "task-1");
	place_run(place);
	assert_int_equal(place->answered, 1);
	assert_int_equal(short_writes, 3);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_a_failed_write_stops_the_log_and_loses_nothing_acknowledged(void **state)
{
	struct place *place = *state;

	open_ok(place);
	place_run(place);
	place->audit->file.io.write = fail_write;
	place_append(place, "task-1");
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(place, 2, "00000000000000000000.jsonl: write: Input/output error");
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.records, 1);
	open_ok(place);
	place_append(place, "task-1");
	place_run(place);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.records, 2);
}

static void append_ending(struct place *place)
{
	struct json *fields = json_object();

	json_set_str(fields, "ev", "token.revoke");
	audit_when_durable(place->audit, audit_append_ending(place->audit, fields, NULL),
			   place_on_durable, place);
}

static void fill_disk(struct place *place)
{
	open_ok(place);
	place_run(place);
	short_writes = 0;
	place->audit->file.io.write = half_then_no_space;
	place_append(place, "task-1");
	place_run(place);
}

static void test_a_full_disk_takes_the_half_batch_back_and_denies(void **state)
{
	struct place *place = *state;
	struct err err = {0};

	fill_disk(place);
	assert_int_equal(place->failed, 1);
	assert_true(audit_stopped(place->audit, &err));
	assert_non_null(strstr(err.text, "the disk of the audit log is full"));
	assert_non_null(strstr(err.text, "No space left on device"));
	assert_string_equal(place->last_failure.text, err.text);
	assert_true(place_append(place, "task-9") == UINT64_MAX);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.torn_bytes, 0);
	assert_int_equal(report.records, 1);
	assert_false(place_has(place, AUDIT_BALLAST));
	place_run(place);
	place_close(place);
	assert_non_null(strstr(place->close_err.text, "the disk of the audit log is full"));
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_with_room_again_what_waited_is_written_and_all_goes_on(void **state)
{
	struct place *place = *state;
	struct buf bytes;

	fill_disk(place);
	append_ending(place); /* a revocation works meanwhile, and is logged later */
	place_append(place, "task-9");
	place->audit->file.io.write = write;
	uv_ref((uv_handle_t *)&place->audit->full_timer); /* it alone keeps this loop alive */
	for (int i = 0; i < 500 && audit_stopped(place->audit, NULL); i++) {
		uv_run(&place->loop, UV_RUN_NOWAIT);
		usleep(10000);
	}
	assert_false(audit_stopped(place->audit, NULL));
	place_append(place, "task-2");
	place_run(place);
	assert_int_equal(place->failed, 3); /* the batch, the revocation, the refused one */
	assert_int_equal(place->answered, 1);
	assert_true(place_has(place, AUDIT_BALLAST));
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	bytes = place_read_log(place);
	assert_non_null(strstr(bytes.bytes, "task-1"));
	assert_non_null(strstr(bytes.bytes, "\"ev\":\"token.revoke\""));
	assert_non_null(
		strstr(bytes.bytes, "\"ev\":\"log.full\",\"src\":\"observed\",\"st\":\"full\""));
	assert_non_null(strstr(bytes.bytes,
			       "\"ct\":1,\"ev\":\"log.full\",\"src\":\"observed\",\"st\":\"ok\""));
	assert_non_null(strstr(bytes.bytes, "task-2"));
	assert_null(strstr(bytes.bytes, "task-9"));
	buf_clear(&bytes);
}

static void test_a_failed_sync_stops_the_log(void **state)
{
	struct place *place = *state;

	open_ok(place);
	place_run(place);
	place->audit->file.io.sync = fail_sync;
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(place, 1, "00000000000000000000.jsonl: fdatasync: Input/output error");
	open_ok(place);
	place_run(place);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_a_full_disk_stops_the_log_with_a_clear_word(void **state)
{
	struct place *place = *state;
	struct rlimit before;
	struct rlimit tight;
	struct stat stat;

	open_ok(place);
	place_run(place);
	assert_int_equal(fstat(place->audit->file.fd, &stat), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	tight = (struct rlimit){(rlim_t)stat.st_size + 50, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	place_append(place, "task-1");
	place_run(place);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_stopped(place, 1, "00000000000000000000.jsonl: write: File too large");
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.torn_bytes, 0);
}

static void test_a_removed_file_stops_the_log(void **state)
{
	struct place *place = *state;

	open_ok(place);
	place_run(place);
	unlinkat(place->root_fd, "audit/" PLACE_LOG, 0);
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(place, 1, "00000000000000000000.jsonl was removed while the log was open");
}

static void test_a_renamed_or_replaced_file_stops_the_log(void **state)
{
	struct place *place = *state;

	open_ok(place);
	place_run(place);
	assert_int_equal(
		renameat(place->root_fd, "audit/" PLACE_LOG, place->root_fd, "audit/old.jsonl"), 0);
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(place, 1,
		       "00000000000000000000.jsonl was moved away while the log was open");
}

static void test_a_file_put_in_its_place_stops_the_log(void **state)
{
	struct place *place = *state;
	struct buf bytes;

	open_ok(place);
	place_run(place);
	bytes = place_read(place, PLACE_LOG);
	assert_int_equal(
		linkat(place->root_fd, "audit/" PLACE_LOG, place->root_fd, "audit/kept.jsonl", 0),
		0);
	place_write(place, PLACE_LOG, bytes.bytes, bytes.len);
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(
		place, 1,
		"00000000000000000000.jsonl was replaced by another file while the log was open");
	buf_clear(&bytes);
}

static void test_a_file_cut_or_written_by_others_stops_the_log(void **state)
{
	struct place *place = *state;
	int fd;

	open_ok(place);
	place_run(place);
	fd = openat(place->root_fd, "audit/" PLACE_LOG, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(place, 1, "someone else wrote to it or cut it");
}

static void test_a_signer_that_fails_stops_the_log(void **state)
{
	struct place *place = *state;

	place->refuse = 2;
	open_ok(place);
	place_run(place);
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(place, 1, "signing a head: the signer has gone");
	/* The record was durable, though not signed: it stays. */
	place->refuse = 0;
	open_ok(place);
	assert_int_equal(place->opened.size, 2);
	place_run(place);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.signed_size, 2);
}

static void test_a_head_of_other_records_is_not_believed(void **state)
{
	struct place *place = *state;

	open_ok(place);
	place_run(place);
	place->lie = true;
	place_append(place, "task-1");
	place_run(place);
	assert_stopped(place, 1, "the signed head is not that of our records");
}

static void test_records_appended_and_the_log_closed_at_once_are_all_there(void **state)
{
	struct place *place = *state;

	open_ok(place);
	for (int i = 0; i < 5000; i++)
		place_append(place, "task-1");
	place_close(place);
	assert_int_equal(place->close_err.kind, ERR_NONE);
	assert_int_equal(place->answered, 5000);
	assert_int_equal(place->heads_signed, 2); /* 4096 leaves at a time */
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
	assert_int_equal(report.signed_size, 5001);
	open_ok(place);
	assert_true(place->opened.from_tail);
	place_close(place);
}

static void test_the_log_verifies_while_it_is_written(void **state)
{
	struct place *place = *state;

	open_ok(place);
	for (int round = 0; round < 30; round++) {
		place_append(place, "task-1");
		for (int turn = 0; turn < 3; turn++)
			uv_run(&place->loop, UV_RUN_NOWAIT);
		place_verify(place, &report);
		assert_false(report.holds[AUDIT_TAMPERED] || report.holds[AUDIT_TRUNCATED]);
	}
	place_run(place);
	place_close(place);
	assert_int_equal(place_verify(place, &report), EXIT_FINE);
}

static void test_waiting_for_a_record_that_never_comes_ends_at_close(void **state)
{
	struct place *place = *state;

	open_ok(place);
	audit_when_durable(place->audit, 7, place_on_durable, place);
	place_run(place);
	assert_int_equal(place->failed, 0);
	place_close(place);
	assert_int_equal(place->failed, 1);
	assert_int_equal(place->last_failure.kind, ERR_INTERNAL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_new_log_begins_with_log_open_and_verifies),
		CASE(test_records_of_one_turn_share_one_write_and_one_head),
		CASE(test_an_answer_may_append_the_next_record),
		CASE(test_what_is_durable_already_is_answered_later_all_the_same),
		CASE(test_secrets_are_committed_and_their_openings_kept),
		CASE(test_fields_that_make_no_record_do_not_stop_the_log),
		CASE(test_a_clean_stop_leaves_a_tail_and_the_next_start_reads_no_more),
		CASE(test_a_start_that_writes_nothing_leaves_the_tail_as_it_was),
		CASE(test_a_tail_that_does_not_fit_is_not_used),
		CASE(test_a_changed_last_record_is_seen_even_with_a_tail),
		CASE(test_a_second_writer_is_refused_while_the_first_runs),
		CASE(test_after_a_kill_records_behind_the_head_stay_and_are_signed),
		CASE(test_a_kill_before_the_first_head_is_no_damage),
		CASE(test_a_tail_torn_at_each_byte_is_cut_and_recorded),
		CASE(test_nuls_behind_the_log_are_cut_and_kept_aside),
		CASE(test_a_log_cut_below_its_head_is_refused_and_left_as_it_is),
		CASE(test_a_flipped_bit_anywhere_is_refused_and_left_as_it_is),
		CASE(test_a_changed_line_feed_behind_the_head_is_no_torn_tail),
		CASE(test_a_checkpoint_that_is_not_ours_is_refused),
		CASE(test_a_folder_open_to_others_is_refused),
		CASE(test_the_origin_must_be_that_of_the_key),
		CASE(test_short_writes_and_interruptions_are_gone_on_with),
		CASE(test_a_failed_write_stops_the_log_and_loses_nothing_acknowledged),
		CASE(test_a_full_disk_takes_the_half_batch_back_and_denies),
		CASE(test_with_room_again_what_waited_is_written_and_all_goes_on),
		CASE(test_a_failed_sync_stops_the_log),
		CASE(test_a_full_disk_stops_the_log_with_a_clear_word),
		CASE(test_a_removed_file_stops_the_log),
		CASE(test_a_renamed_or_replaced_file_stops_the_log),
		CASE(test_a_file_put_in_its_place_stops_the_log),
		CASE(test_a_file_cut_or_written_by_others_stops_the_log),
		CASE(test_a_signer_that_fails_stops_the_log),
		CASE(test_a_head_of_other_records_is_not_believed),
		CASE(test_records_appended_and_the_log_closed_at_once_are_all_there),
		CASE(test_the_log_verifies_while_it_is_written),
		CASE(test_waiting_for_a_record_that_never_comes_ends_at_close),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
