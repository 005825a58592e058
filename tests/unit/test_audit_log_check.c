/* A folder of a log: whole, damaged at its borders and beside its lines, in part, anchored,
 * witnessed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/forge_place.h"

#define RECORDS 700
#define PER_SEGMENT 150

static struct forge_place *place;
static struct err err;

static int setup(void **state)
{
	(void)state;
	place = forge_place_new();
	forge_records(place->forge, RECORDS, PER_SEGMENT, RECORDS, "");
	forge_write(place->forge, place->dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	forge_place_free(place);
	return 0;
}

static char *path_of(const char *name)
{
	return mem_format("%s/%s", place->dir, name);
}

static void remove_file(const char *name)
{
	CLEANUP(mem_freep) char *path = path_of(name);

	assert_int_equal(unlink(path), 0);
}

static void rename_file(const char *from, const char *to)
{
	CLEANUP(mem_freep) char *a = path_of(from);
	CLEANUP(mem_freep) char *b = path_of(to);

	assert_int_equal(rename(a, b), 0);
}

static void flip(const char *name, long at)
{
	CLEANUP(mem_freep) char *path = path_of(name);
	FILE *file = fopen(path, "r+");
	int c;

	assert_non_null(file);
	fseek(file, at, SEEK_SET);
	c = fgetc(file);
	fseek(file, at, SEEK_SET);
	fputc(c ^ 1, file);
	fclose(file);
}

static void says(const char *text)
{
	const struct audit_report *verdict = &place->report.verdict;

	for (int i = 0; i < AUDIT_VERDICTS; i++)
		if (verdict->holds[i] && strstr(verdict->text[i], text) != NULL)
			return;
	fail_msg("\"%s\" is said nowhere: %s", text, verdict->text[AUDIT_TAMPERED]);
}

#define SEG(n) "seg/00000000000000000" n ".jsonl"
#define SEAL(n) "seg/00000000000000000" n ".checkpoint"

static void test_a_whole_log_is_signed_and_everything_beside_it_is_compared(void **state)
{
	(void)state;
	assert_int_equal(forge_check(place), EXIT_FINE);
	assert_true(place->report.verdict.holds[AUDIT_SIGNED]);
	assert_int_equal(place->report.verdict.records, RECORDS);
	assert_int_equal(place->report.verdict.segments, 5);
	assert_int_equal(place->report.heads, 5); /* four seals and the newest */
	assert_int_equal(place->report.tiles, 4); /* 000, 001, the edges of both levels */
	assert_int_equal(place->report.tiles_missing, 0);
	assert_int_equal(forge_check_with(place, (struct log_check_options){.hash_files = true}),
			 EXIT_FINE);
	assert_int_equal(forge_check_with(place, (struct log_check_options){.chain_only = true}),
			 EXIT_FINE);
}

static void test_a_missing_segment_is_found_and_named(void **state)
{
	(void)state;
	remove_file(SEG("150"));
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
	says("the lines of " SEG("150") " are gone, and no record says that they were dropped");
	remove_file(SEAL("150"));
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
	says(SEG("300") " begins with record 300, but 150 records come before it");
}

static void test_a_missing_first_or_last_segment_is_found(void **state)
{
	(void)state;
	remove_file(SEG("600"));
	assert_int_equal(forge_check(place), EXIT_TRUNCATED);
	forge_write(place->forge, place->dir);
	remove_file(SEG("000"));
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
}

static void test_swapped_segments_are_found(void **state)
{
	(void)state;
	rename_file(SEG("150"), "seg/x");
	rename_file(SEG("300"), SEG("150"));
	rename_file("seg/x", SEG("300"));
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
}

static void test_a_seal_must_be_there_and_be_signed_by_its_own_epoch(void **state)
{
	char *seal = forge_head(place->forge, 300, false, false);
	uint8_t signature[ED25519_SIGNATURE_LEN];
	struct buf forged = BUF_INIT;

	(void)state;
	remove_file(SEAL("150"));
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
	says(SEG("150") " has no seal");

	forge_write_file(place->dir, SEAL("150"), seal, strlen(seal));
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
	says("is not signed by the key of its epoch 1: signed note: no signature by a known key");

	/* A later epoch's key, which a thief has, under the name of the right one. */
	buf_add_str(&forged, seal);
	{
		struct vkey name = place->forge->epoch_vkeys[1];

		sign_bytes(place->forge->epoch_keys[4], forged.bytes,
			   (size_t)(strstr(forged.bytes, "\n\n") + 1 - forged.bytes), signature);
		note_line_write(&name, signature, &forged);
	}
	forge_write_file(place->dir, SEAL("150"), forged.bytes, forged.len);
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
	says("the signature of " FORGE_ORIGIN "/e1 does not fit");
	mem_free(seal);
	buf_clear(&forged);
}

static void test_a_seal_of_another_size_is_found(void **state)
{
	char *seal = forge_head(place->forge, 299, true, false);

	(void)state;
	forge_write_file(place->dir, SEAL("150"), seal, strlen(seal));
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
	says("counts 299 records, but it ends with record 299");
	mem_free(seal);
}

static void test_the_pinned_key_of_epoch_0_must_be_the_one_in_record_0(void **state)
{
	struct log_check_options options = {.verify.epoch_key = &place->forge->epoch_vkeys[0]};

	(void)state;
	assert_int_equal(forge_check_with(place, options), EXIT_FINE);
	options.verify.epoch_key = &place->forge->epoch_vkeys[1];
	assert_int_equal(forge_check_with(place, options), EXIT_TAMPERED);
	says("record 0 does not name the pinned key of epoch 0");
}

static void test_altered_tiles_and_sums_are_found(void **state)
{
	static const char *const files[] = {"tile/0/000", "tile/0/001", "tile/0/002.p/188",
					    "tile/1/000.p/2"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		flip(files[i], 33);
		assert_int_equal(forge_check(place), EXIT_TAMPERED);
		says(files[i]);
		flip(files[i], 33);
	}
	flip("SHA256SUMS", 100);
	assert_int_equal(forge_check(place), EXIT_TAMPERED);
	says("SHA256SUMS");
	flip("SHA256SUMS", 100);
	remove_file("tile/0/001");
	assert_int_equal(forge_check(place), EXIT_FINE);
	assert_int_equal(place->report.tiles_missing, 1);
}

static void test_a_cut_at_the_border_of_an_epoch_needs_an_anchor(void **state)
{
	char *anchor = forge_head(place->forge, 450, false, false);
	char *border = forge_head(place->forge, 300, true, false);

	(void)state;
	remove_file(SEG("600"));
	remove_file(SEG("450"));
	remove_file(SEG("300"));
	remove_file(SEAL("450"));
	remove_file(SEAL("300"));
	remove_file("SHA256SUMS");
	remove_file("tile/0/001");
	remove_file("tile/0/002.p/188");
	remove_file("tile/1/000.p/2");
	forge_write_file(place->dir, "checkpoint", border, strlen(border));
	assert_int_equal(forge_check(place), EXIT_FINE);
	assert_int_equal(forge_check_kept(place, anchor), EXIT_TRUNCATED);
	mem_free(anchor);
	mem_free(border);
}

static void test_a_range_is_read_alone_and_the_rest_by_its_hashes(void **state)
{
	struct log_check_options range = {.from = 310, .to = 320};

	(void)state;
	flip(SEG("000"), 2000); /* outside: not read */
	assert_int_equal(forge_check_with(place, range), EXIT_FINE);
	assert_int_equal(place->report.verdict.records, RECORDS);
	assert_int_equal(place->report.verdict.hash_only, RECORDS - PER_SEGMENT);
	assert_int_equal(place->report.verdict.segments, 1);
	flip(SEG("300"), 2000); /* inside */
	assert_int_equal(forge_check_with(place, range), EXIT_TAMPERED);
	flip(SEG("300"), 2000);
	flip("tile/0/000", 64 * 32); /* hashes that stand in for records */
	assert_int_equal(forge_check_with(place, range), EXIT_TAMPERED);
	says("do not give the root of");
}

static void test_a_kept_head_anchors_the_log_up_to_its_size_and_ages(void **state)
{
	char *kept = forge_head(place->forge, 500, false, false);
	struct log_kept head = {"kept", kept, strlen(kept)};
	struct log_check_options options = {
		.kept = &head, .kept_count = 1, .verify.needs_anchor = true};
	int64_t time = 0;

	(void)state;
	assert_int_equal(timestamp_read("2026-08-22T12:00:00.000000Z", &time, &err), 0);
	options.verify.now_us = time;
	assert_int_equal(forge_check_with(place, options), EXIT_FINE);
	assert_true(place->report.verdict.holds[AUDIT_ANCHORED]);
	assert_int_equal(place->report.verdict.anchored_size, 500);
	says("the last of 2026-08-22T10:00:00.000000Z (age 2 h)");
	options.verify.anchor_age_max_us = 7200LL * 1000000;
	assert_int_equal(forge_check_with(place, options), EXIT_FINE);
	options.verify.anchor_age_max_us--;
	assert_int_equal(forge_check_with(place, options), EXIT_POLICY);
	options.kept_count = 0;
	options.verify.anchor_age_max_us = 0;
	assert_int_equal(forge_check_with(place, options), EXIT_POLICY);
	says("an anchor is asked for");
	mem_free(kept);
}

static void parse_policy(struct trust_policy *policy, const char *quorum)
{
	struct buf text = BUF_INIT;

	buf_add_str(&text, "witness w ");
	vkey_write(&place->forge->witness_vkey, &text);
	buf_addf(&text, "\nquorum %s\n", quorum);
	assert_int_equal(trust_policy_parse(text.bytes, text.len, policy, &err), 0);
	buf_clear(&text);
}

static void test_witnesses_of_the_policy_must_have_cosigned(void **state)
{
	char *plain = forge_head(place->forge, RECORDS, true, false);
	char *cosigned = forge_head(place->forge, RECORDS, true, true);
	struct trust_policy policy;
	struct log_check_options options = {.verify.policy = &policy};

	(void)state;
	parse_policy(&policy, "w");
	assert_int_equal(forge_check_with(place, options), EXIT_POLICY);
	says("0 of 1 witnesses cosigned a head that fits");
	forge_write_file(place->dir, "checkpoint", cosigned, strlen(cosigned));
	assert_int_equal(forge_check_with(place, options), EXIT_FINE);
	assert_true(place->report.verdict.holds[AUDIT_WITNESSED]);
	assert_int_equal(place->report.verdict.witnessed_size, RECORDS);
	/* A bad cosignature counts for nothing. */
	cosigned[strlen(cosigned) - 10] ^= 1;
	forge_write_file(place->dir, "checkpoint", cosigned, strlen(cosigned));
	assert_int_equal(forge_check_with(place, options), EXIT_POLICY);
	trust_policy_clear(&policy);
	parse_policy(&policy, "none");
	forge_write_file(place->dir, "checkpoint", plain, strlen(plain));
	assert_int_equal(forge_check_with(place, options), EXIT_FINE);
	trust_policy_clear(&policy);
	mem_free(plain);
	mem_free(cosigned);
}

static void test_cosignatures_in_the_list_of_anchors_count(void **state)
{
	char *cosigned = forge_head(place->forge, 650, false, true);
	CLEANUP(mem_freep) char *reply = NULL;
	struct json *line = json_object();
	struct buf text = BUF_INIT;
	struct trust_policy policy;

	(void)state;
	*strrchr(cosigned, '\n') = '\0';
	reply = mem_format("%s\n", strrchr(cosigned, '\n') + 1);
	json_set_str(line, "reply", reply);
	*(strrchr(cosigned, '\n') + 1) = '\0';
	json_set_str(line, "checkpoint", cosigned);
	json_write(line, &text);
	buf_add_char(&text, '\n');
	forge_write_file(place->dir, "anchors.log", text.bytes, text.len);
	parse_policy(&policy, "w");
	assert_int_equal(
		forge_check_with(place, (struct log_check_options){.verify.policy = &policy}),
		EXIT_FINE);
	assert_int_equal(place->report.verdict.witnessed_size, 650);
	assert_int_equal(place->report.anchors, 1);
	assert_false(place->report.verdict.holds[AUDIT_ANCHORED]);
	trust_policy_clear(&policy);
	json_free(line);
	buf_clear(&text);
	mem_free(cosigned);
}

static void test_two_signed_histories_are_a_fork(void **state)
{
	struct forge *other = forge_new();
	char *head;

	(void)state;
	forge_records(other, RECORDS, PER_SEGMENT, 650, "t-other");
	head = forge_head(other, RECORDS, false, false);
	assert_int_equal(forge_check_kept(place, head), EXIT_FORKED);
	mem_free(head);
	head = forge_head(other, 640, false, false); /* before they part */
	assert_int_equal(forge_check_kept(place, head), EXIT_FINE);
	mem_free(head);
	forge_free(other);
}

static void test_an_empty_folder_is_inconclusive_and_a_missing_one_an_error(void **state)
{
	struct log_dir dir;

	(void)state;
	forge_place_empty(place);
	assert_int_equal(forge_check(place), EXIT_INCONCLUSIVE);
	assert_int_equal(log_dir_open("/nonexistent/log", &dir, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
}

static void test_a_long_left_out_segment_needs_its_leaves_at_the_borders_only(void **state)
{
	struct log_check_options range = {.from = 2000, .to = 2001};

	(void)state;
	forge_place_empty(place);
	forge_records(place->forge, 2100, 1000, 2100, "");
	forge_write(place->forge, place->dir);
	remove_file("tile/0/001"); /* within the first segment */
	remove_file("tile/0/005"); /* within the second */
	assert_int_equal(forge_check_with(place, range), EXIT_FINE);
	assert_int_equal(place->report.verdict.hash_only, 2000);
	remove_file("tile/0/003"); /* at the border of the two */
	assert_int_equal(forge_check_with(place, range), EXIT_TAMPERED);
	says("neither lines nor hashes of the records from");
}

static void test_a_rotated_key_is_followed_from_a_head_that_covers_its_record(void **state)
{
	char *covering, *before;

	(void)state;
	forge_place_empty(place);
	forge_rotate(place->forge, 30, 12);
	covering = forge_head(place->forge, 13, false, false);
	before = forge_head(place->forge, 12, false, false);
	place->forge->second_key = true;
	forge_write(place->forge, place->dir);
	assert_int_equal(forge_check(place), EXIT_UNSIGNED);
	assert_int_equal(forge_check_kept(place, before), EXIT_UNSIGNED_TAIL);
	assert_int_equal(place->report.verdict.signed_size, 12);
	assert_int_equal(forge_check_kept(place, covering), EXIT_FINE);
	assert_int_equal(place->report.verdict.signed_size, 30);
	mem_free(covering);
	mem_free(before);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_whole_log_is_signed_and_everything_beside_it_is_compared),
		CASE(test_a_missing_segment_is_found_and_named),
		CASE(test_a_missing_first_or_last_segment_is_found),
		CASE(test_swapped_segments_are_found),
		CASE(test_a_seal_must_be_there_and_be_signed_by_its_own_epoch),
		CASE(test_a_seal_of_another_size_is_found),
		CASE(test_the_pinned_key_of_epoch_0_must_be_the_one_in_record_0),
		CASE(test_altered_tiles_and_sums_are_found),
		CASE(test_a_cut_at_the_border_of_an_epoch_needs_an_anchor),
		CASE(test_a_range_is_read_alone_and_the_rest_by_its_hashes),
		CASE(test_a_long_left_out_segment_needs_its_leaves_at_the_borders_only),
		CASE(test_a_kept_head_anchors_the_log_up_to_its_size_and_ages),
		CASE(test_witnesses_of_the_policy_must_have_cosigned),
		CASE(test_cosignatures_in_the_list_of_anchors_count),
		CASE(test_a_rotated_key_is_followed_from_a_head_that_covers_its_record),
		CASE(test_two_signed_histories_are_a_fork),
		CASE(test_an_empty_folder_is_inconclusive_and_a_missing_one_an_error),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
