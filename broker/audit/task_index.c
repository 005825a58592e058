/*
 * Finding a task segment by segment: through the index file if it fits, else by reading the lines
 * and writing the file. What can fail: reading the log.
 */
#include "broker/audit/task_index.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/tree.h"

#define MAGIC "writ-task-index/1\n"
#define MAGIC_LEN (sizeof(MAGIC) - 1)
#define HEADER_BYTES 4096u
#define PAGE_BYTES 4096u
#define PAGE_ENTRIES 255u
#define SUM_BYTES 16u
#define REBUILD_BYTES (1u << 20) /* more than that behind an index: it is written anew */

struct entry { /* as in the file */
	uint64_t hash;
	uint64_t offset;
};

struct header {
	char magic[MAGIC_LEN];
	uint64_t covered; /* bytes of the segment */
	uint64_t last_at; /* offset of the last line covered */
	uint64_t count;
	uint8_t first_leaf[SHA256_LEN];
	uint8_t last_leaf[SHA256_LEN];
	uint8_t sum[SHA256_LEN]; /* of the fields before it */
};

struct page {
	struct entry entries[PAGE_ENTRIES];
	uint8_t sum[SUM_BYTES];
};
_Static_assert(sizeof(struct page) == PAGE_BYTES, "a page");

struct search {
	const struct log_dir *dir;
	int cache_fd; /* -1 without a cache */
	const char *task;
	size_t task_len;
	uint64_t hash;
	log_on_line *on_line;
	void *data;

	size_t part;
	int fd;		     /* of the segment's lines */
	struct entry *found; /* owned; of this segment */
	size_t found_count;

	/* While an index is built. */
	struct entry *entries; /* owned */
	size_t count, room;
	struct header header;
};

static uint64_t hash_task(const char *task, size_t len)
{
	uint8_t hash[SHA256_LEN];
	uint64_t out;

	sha256_once(task, len, hash);
	memcpy(&out, hash, sizeof(out));
	return le64toh(out);
}

const char *task_of_line(const char *entry, size_t len, size_t *ret_len)
{
	static const char mark[] = ",\"tx\":\"";
	const size_t mark_len = sizeof(mark) - 1;
	const char *end;

	/* It stands near the end. Within a string the quotes would bear backslashes. */
	for (size_t at = len; at-- > 0;) {
		if (entry[at] != ',' || len - at < mark_len ||
		    memcmp(entry + at, mark, mark_len) != 0)
			continue;
		end = memchr(entry + at + mark_len, '"', len - at - mark_len);
		if (end == NULL)
			return NULL;
		*ret_len = (size_t)(end - (entry + at + mark_len));
		return entry + at + mark_len;
	}
	return NULL;
}

/* The index on disk. */
static void page_sum(const struct page *page, uint8_t out[SUM_BYTES])
{
	uint8_t hash[SHA256_LEN];

	sha256_once(page->entries, sizeof(page->entries), hash);
	memcpy(out, hash, SUM_BYTES);
}

static bool read_at(int fd, void *out, size_t len, uint64_t at)
{
	return pread(fd, out, len, (off_t)at) == (ssize_t)len;
}

static bool header_reads(int fd, struct header *header)
{
	uint8_t sum[SHA256_LEN];

	if (!read_at(fd, header, sizeof(*header), 0) ||
	    memcmp(header->magic, MAGIC, MAGIC_LEN) != 0)
		return false;
	sha256_once(header, offsetof(struct header, sum), sum);
	header->covered = le64toh(header->covered);
	header->last_at = le64toh(header->last_at);
	header->count = le64toh(header->count);
	return memcmp(sum, header->sum, SHA256_LEN) == 0;
}

static bool line_is(int fd, uint64_t at, const uint8_t leaf[SHA256_LEN], size_t *ret_len)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	uint8_t hash[SHA256_LEN];

	if (log_line_at(fd, at, &line, NULL) < 0)
		return false;
	leaf_hash(buf_str(&line), line.len, hash);
	*ret_len = line.len;
	return memcmp(hash, leaf, SHA256_LEN) == 0;
}

static bool header_fits(const struct search *search, const struct header *header)
{
	size_t len = 0;

	if (header->count == 0 || !line_is(search->fd, 0, header->first_leaf, &len))
		return false;
	return line_is(search->fd, header->last_at, header->last_leaf, &len) &&
	       header->last_at + len + 1 == header->covered;
}

static bool page_reads(int fd, uint64_t number, struct page *page)
{
	uint8_t sum[SUM_BYTES];

	if (!read_at(fd, page, sizeof(*page), HEADER_BYTES + number * PAGE_BYTES))
		return false;
	page_sum(page, sum);
	return memcmp(sum, page->sum, SUM_BYTES) == 0;
}

/* The first page whose last entry is not below the hash. */
static bool find_page(int fd, uint64_t pages, uint64_t hash, uint64_t *ret_page)
{
	uint64_t low = 0;
	uint64_t high = pages;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		uint64_t last;

		if (!read_at(fd, &last, sizeof(last),
			     HEADER_BYTES + middle * PAGE_BYTES +
				     (PAGE_ENTRIES - 1) * sizeof(struct entry)))
			return false;
		if (le64toh(last) < hash)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_page = low;
	return true;
}

static void add_found(struct search *search, uint64_t offset)
{
	if (search->found_count % 64 == 0)
		search->found = mem_grow(search->found,
					 (search->found_count + 64) * sizeof(*search->found));
	search->found[search->found_count++] = (struct entry){search->hash, offset};
}

/* False when a page is damaged. */
static bool look_up(struct search *search, int fd, const struct header *header)
{
	uint64_t pages = (header->count + PAGE_ENTRIES - 1) / PAGE_ENTRIES;
	CLEANUP(mem_freep) struct page *page = mem_alloc(sizeof(*page));
	uint64_t number = 0;

	if (!find_page(fd, pages, search->hash, &number))
		return false;
	for (; number < pages; number++) {
		if (!page_reads(fd, number, page))
			return false;
		for (size_t i = 0; i < PAGE_ENTRIES; i++) {
			uint64_t hash = le64toh(page->entries[i].hash);
			uint64_t offset = le64toh(page->entries[i].offset);

			if (hash > search->hash)
				return true;
			if (hash == search->hash && offset != UINT64_MAX)
				add_found(search, offset);
		}
	}
	return true;
}

static void index_name(const struct search *search, char out[AUDIT_NAME_MAX])
{
	snprintf(out, AUDIT_NAME_MAX, "%0*llu.tasks", AUDIT_SEGMENT_DIGITS,
		 (unsigned long long)search->dir->parts[search->part].first);
}

/* Up to where the index covers the segment; 0 when there is no index that fits. */
static uint64_t use_index(struct search *search)
{
	char name[AUDIT_NAME_MAX];
	CLEANUP(fd_closep) int fd = -1;
	struct header header;

	index_name(search, name);
	fd = search->cache_fd < 0
		     ? -1
		     : openat(search->cache_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || !header_reads(fd, &header) || !header_fits(search, &header) ||
	    !look_up(search, fd, &header)) {
		search->found_count = 0;
		return 0;
	}
	return header.covered;
}

/* Building. */
static int index_line(void *data, const struct log_line *line, struct err *err)
{
	struct search *search = data;
	const char *task;
	size_t len = 0;

	(void)err;
	if (line->offset == 0)
		leaf_hash(line->entry, line->len, search->header.first_leaf);
	search->header.last_at = line->offset;
	task = task_of_line(line->entry, line->len, &len);
	if (task == NULL)
		return 0;
	if (search->count == search->room) {
		search->room = search->room == 0 ? 4096 : 2 * search->room;
		search->entries = mem_grow(search->entries, search->room * sizeof(struct entry));
	}
	search->entries[search->count] = (struct entry){hash_task(task, len), line->offset};
	if (search->entries[search->count].hash == search->hash)
		add_found(search, line->offset);
	search->count++;
	return 0;
}

static int by_hash(const void *a, const void *b)
{
	const struct entry *left = a;
	const struct entry *right = b;

	if (left->hash != right->hash)
		return left->hash < right->hash ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void add_pages(const struct search *search, struct buf *out)
{
	for (size_t at = 0; at < search->count; at += PAGE_ENTRIES) {
		struct page page;

		memset(&page, 0xFF, sizeof(page)); /* behind the last entry: above all others */
		for (size_t i = 0; i < PAGE_ENTRIES && at + i < search->count; i++)
			page.entries[i] = (struct entry){htole64(search->entries[at + i].hash),
							 htole64(search->entries[at + i].offset)};
		page_sum(&page, page.sum);
		buf_add(out, &page, sizeof(page));
	}
}

/* Behind an unfinished line there may be more soon; the index ends before it. */
static void write_index(struct search *search, uint64_t covered)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	CLEANUP(buf_clear) struct buf last = BUF_INIT;
	struct header *header = &search->header;
	char name[AUDIT_NAME_MAX];
	char block[HEADER_BYTES] = {0};

	if (search->cache_fd < 0 || search->count == 0 ||
	    log_line_at(search->fd, header->last_at, &last, NULL) < 0)
		return;
	leaf_hash(buf_str(&last), last.len, header->last_leaf);
	memcpy(header->magic, MAGIC, MAGIC_LEN);
	header->covered = htole64(covered);
	header->last_at = htole64(header->last_at);
	header->count = htole64(search->count);
	sha256_once(header, offsetof(struct header, sum), header->sum);
	memcpy(block, header, sizeof(*header));
	buf_add(&out, block, sizeof(block));
	if (search->count > 1)
		qsort(search->entries, search->count, sizeof(struct entry), by_hash);
	add_pages(search, &out);
	index_name(search, name);
	IGNORE(file_replace_at(search->cache_fd, name, 0600, out.bytes, out.len, false, NULL) < 0,
	       "only a cache: the next search reads the lines again");
}

static int build_index(struct search *search, struct err *err)
{
	uint64_t covered = 0;

	search->count = 0;
	search->found_count = 0;
	memset(&search->header, 0, sizeof(search->header));
	if (log_walk_part(search->dir, search->part, 0, index_line, search, &covered, err) < 0)
		return -1;
	write_index(search, covered);
	return 0;
}

/* Lines behind the index. */
static int scan_line(void *data, const struct log_line *line, struct err *err)
{
	struct search *search = data;
	size_t len = 0;
	const char *task = task_of_line(line->entry, line->len, &len);

	(void)err;
	if (task != NULL && len == search->task_len && memcmp(task, search->task, len) == 0)
		add_found(search, line->offset);
	return 0;
}

static int give(struct search *search, uint64_t offset, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct log_line line = {.part = search->part, .offset = offset};
	const char *task;
	size_t len = 0;

	if (log_line_at(search->fd, offset, &bytes, err) < 0)
		return -1;
	line.entry = buf_str(&bytes);
	line.len = bytes.len;
	task = task_of_line(line.entry, line.len, &len);
	/* Two tasks may share a hash, and a stale index may point anywhere. */
	if (task == NULL || len != search->task_len || memcmp(task, search->task, len) != 0)
		return 0;
	return search->on_line(search->data, &line, err);
}

static int search_part(struct search *search, struct err *err)
{
	uint64_t bytes = search->dir->parts[search->part].bytes;
	uint64_t covered;
	uint64_t end = 0;

	search->found_count = 0;
	covered = use_index(search);
	if (covered == 0 || (bytes > covered && bytes - covered > REBUILD_BYTES)) {
		if (build_index(search, err) < 0)
			return -1;
	} else if (log_walk_part(search->dir, search->part, covered, scan_line, search, &end, err) <
		   0) {
		return -1;
	}
	for (size_t i = 0; i < search->found_count; i++) {
		int result = give(search, search->found[i].offset, err);

		if (result != 0)
			return result;
	}
	return 0;
}

/* The cache of this log: named after its first line, which no other log has. */
static int open_cache(const struct log_dir *dir, const char *cache)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	CLEANUP(fd_closep) int lines = -1;
	CLEANUP(fd_closep) int folder = -1;
	uint8_t leaf[SHA256_LEN];
	char name[2 * 16 + 1];
	size_t first = 0;

	while (first < dir->count && !dir->parts[first].has_lines)
		first++;
	if (cache == NULL || first == dir->count || log_dir_lines(dir, first, &lines, NULL) < 0 ||
	    log_line_at(lines, 0, &line, NULL) < 0)
		return -1;
	leaf_hash(buf_str(&line), line.len, leaf);
	hex_write(leaf, 16, name);
	folder = open(cache, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0 || (mkdirat(folder, name, 0700) < 0 && errno != EEXIST))
		return -1;
	return openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int search_all(struct search *search, struct err *err)
{
	for (; search->part < search->dir->count; search->part++) {
		int result = 0;

		if (!search->dir->parts[search->part].has_lines)
			continue;
		if (log_dir_lines(search->dir, search->part, &search->fd, err) < 0)
			return -1;
		result = search_part(search, err);
		fd_closep(&search->fd);
		if (result != 0)
			return result;
	}
	return 0;
}

int task_index_find(const struct log_dir *dir, const char *cache, const char *task,
		    log_on_line *on_line, void *data, struct err *err)
{
	struct search search = {.dir = dir,
				.cache_fd = open_cache(dir, cache),
				.task = task,
				.task_len = strlen(task),
				.hash = hash_task(task, strlen(task)),
				.on_line = on_line,
				.data = data,
				.fd = -1};
	int result = search_all(&search, err);

	fd_closep(&search.cache_fd);
	mem_free(search.found);
	mem_free(search.entries);
	return result < 0 ? -1 : 0;
}
