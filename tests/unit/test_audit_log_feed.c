/* The pipeline against the verifier fed in one piece: same report, whatever the file and however
 * many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "broker/audit/log_feed.h"

static struct err err;
static struct audit_report whole, piped;

/* count records, each padded by up to 2 * pad bytes. */
static void write_log(struct buf *out, size_t count, size_t pad)
{
	CLEANUP(mem_freep) char *text = mem_alloc(2 * pad + 1);
	uint8_t prev[SHA256_LEN] = {0};

	for (size_t seq = 0; seq < count; seq++) {
		CLEANUP(json_freep) struct json *fields = json_object();
		size_t before = out->len;

		memset(text, 'x', 2 * pad);
		text[pad == 0 ? 0 : seq * 7919 % (2 * pad)] = '\0';
		json_set_str(fields, "ev", "tool.result");
		json_set_str(fields, "tx", text);
		assert_int_equal(record_format(seq, prev, "2026-08-22T10:00:00.000000Z", fields,
					       NULL, out, &err),
				 0);
		leaf_hash(out->bytes + before, out->len - before, prev);
		buf_add_char(out, '\n');
	}
}

struct seen {
	uint64_t records;
	uint64_t tiles;
	uint8_t last_tile[SHA256_LEN];
};

static void on_record(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN], const char *entry,
		      size_t len)
{
	struct seen *seen = data;

	(void)leaf;
	assert_int_equal(seq, seen->records);
	assert_true(len >= 85 && entry[0] == '{');
	seen->records++;
}

static void on_tile(void *data, unsigned int level, uint64_t index, const struct tile *tile)
{
	struct seen *seen = data;

	(void)level;
	(void)index;
	seen->tiles++;
	memcpy(seen->last_tile, tile->hashes[255], SHA256_LEN);
}

static void compare(const struct buf *bytes, unsigned int threads)
{
	struct seen of_whole = {.records = 0}, of_piped = {.records = 0};
	struct audit_verify_options options = {.on_record = on_record, .on_tile = on_tile};
	struct audit_verify *verify;
	struct log_feed_end end;
	uint8_t hash[SHA256_LEN];
	int fd = memfd_create("log", MFD_CLOEXEC);

	options.data = &of_whole;
	verify = audit_verify_new(&options);
	audit_verify_feed(verify, buf_str(bytes), bytes->len);
	audit_verify_end(verify, &whole);
	audit_verify_free(verify);

	assert_true(fd >= 0 && write(fd, buf_str(bytes), bytes->len) == (ssize_t)bytes->len);
	lseek(fd, 0, SEEK_SET);
	options.data = &of_piped;
	verify = audit_verify_new(&options);
	{
		struct log_feed feed = {.verify = verify, .threads = threads, .hash_file = true};

		assert_int_equal(log_feed_file(&feed, fd, &end, &err), 0);
	}
	audit_verify_end(verify, &piped);
	audit_verify_free(verify);
	close(fd);

	assert_memory_equal(&whole, &piped, sizeof(whole));
	assert_memory_equal(&of_whole, &of_piped, sizeof(of_whole));
	assert_int_equal(end.bytes, bytes->len);
	sha256_once(buf_str(bytes), bytes->len, hash);
	assert_memory_equal(hash, end.sha256, SHA256_LEN);
}

static void test_small_and_large_logs_are_read_alike_on_any_number_of_threads(void **state)
{
	static const size_t counts[] = {0, 1, 2, 255, 256, 257, 9000};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		struct buf bytes = BUF_INIT;

		write_log(&bytes, counts[i], counts[i] > 300 ? 400 : 10);
		for (unsigned int threads = 1; threads <= 4; threads++)
			compare(&bytes, threads);
		buf_clear(&bytes);
	}
}

static void test_records_of_the_largest_size_are_read_alike(void **state)
{
	struct buf bytes = BUF_INIT;

	(void)state;
	write_log(&bytes, 40, 32000);
	compare(&bytes, 1);
	compare(&bytes, 3);
	buf_clear(&bytes);
}

static void test_damage_is_found_alike(void **state)
{
	struct buf bytes = BUF_INIT;

	(void)state;
	write_log(&bytes, 6000, 300);
	for (size_t at = 100; at < bytes.len; at += bytes.len / 37) {
		bytes.bytes[at] ^= 4;
		compare(&bytes, 1 + (unsigned int)at % 3);
		bytes.bytes[at] ^= 4;
	}
	for (size_t cut = 0; cut < 700; cut += 13) {
		struct buf shorter = bytes;

		shorter.len -= cut;
		compare(&shorter, 2);
	}
	buf_clear(&bytes);
}

static void test_a_line_beyond_every_bound_is_read_alike(void **state)
{
	static const size_t longs[] = {65534, 65535, 65536, 65537, 600000, 3000000};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(longs); i++)
		for (int feed = 0; feed < 2; feed++) {
			struct buf bytes = BUF_INIT;

			write_log(&bytes, 500, 500);
			for (size_t j = 0; j < longs[i]; j++)
				buf_add_char(&bytes, feed == 0 ? '\0' : 'y');
			if (feed == 1)
				buf_add_str(&bytes, "\nrest\n");
			compare(&bytes, 2);
			buf_clear(&bytes);
		}
}

static void test_lax_reading_sees_chain_and_order_but_not_form(void **state)
{
	struct buf bytes = BUF_INIT;
	struct verify_block block = {.bytes = NULL};

	(void)state;
	write_log(&bytes, 3, 5);
	block.bytes = bytes.bytes;
	block.len = bytes.len;
	memcpy(strstr(bytes.bytes, "\"ev\""), "\"EV\"", 4);
	verify_block_read(&block, true);
	assert_int_equal(block.count, 3);
	assert_false(block.bad);
	verify_block_read(&block, false);
	assert_int_equal(block.count, 0);
	assert_true(block.bad);
	assert_int_equal(block.rest, 2);
	assert_non_null(strstr(block.why.text, "a key must begin with a small letter"));
	verify_block_clear(&block);
	buf_clear(&bytes);
}

static void test_a_disk_that_fails_is_an_error(void **state)
{
	struct audit_verify_options options = {.live = false};
	struct audit_verify *verify = audit_verify_new(&options);
	struct log_feed feed = {.verify = verify, .threads = 2};
	struct log_feed_end end;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(log_feed_file(&feed, fds[1], &end, &err), -1); /* cannot be read from */
	assert_int_equal(err.kind, ERR_IO);
	assert_non_null(strstr(err.text, "read: "));
	close(fds[0]);
	close(fds[1]);
	audit_verify_free(verify);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_and_large_logs_are_read_alike_on_any_number_of_threads),
		cmocka_unit_test(test_records_of_the_largest_size_are_read_alike),
		cmocka_unit_test(test_damage_is_found_alike),
		cmocka_unit_test(test_a_line_beyond_every_bound_is_read_alike),
		cmocka_unit_test(test_lax_reading_sees_chain_and_order_but_not_form),
		cmocka_unit_test(test_a_disk_that_fails_is_an_error),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
