/*
 * What is noticed when a log is tampered with, measured: every way, at every place of a small log,
 * judged as `writ audit verify` judges it. Prints docs/tamper-matrix.md; with --check FILE it
 * compares instead, so the page cannot say what is not so.
 *
 *   alone   the lines and nothing else: no head, no key
 *   head    the whole folder and the pinned key
 *   kept    and a head of the whole log that was kept elsewhere: an anchor, a witness's, an
 * answer's
 *
 * Noticed means: for the lines alone, a verdict of damage (exit 20 to 22); for the others, that the
 * command does not exit with 0.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/witness.h"
#include "tests/unit/forge_place.h"

#define RECORDS 6
#define PER_SEGMENT 2
#define FILES_MAX 32
#define MEANS 3

struct file {
	char name[64];
	struct buf bytes;
};

struct change {
	const char *name;
	const char *bytes; /* NULL: removed */
	size_t len;
};

struct tally {
	unsigned int tries;
	unsigned int noticed[MEANS];
};

struct matrix {
	struct forge_place *whole;
	struct forge_place *alone; /* its lines alone */
	struct file files[FILES_MAX];
	size_t file_count;
	char *kept;
	struct tally tally;
	struct buf out;
};

static void die(const char *what)
{
	fprintf(stderr, "tamper_matrix: %s\n", what);
	exit(1);
}

/* The folder. */
static bool is_lines(const char *name)
{
	return strstr(name, ".jsonl") != NULL;
}

static struct matrix *loading;

static int load(const char *path, const struct stat *stat, int type, struct FTW *ftw)
{
	struct matrix *matrix = loading;
	struct file *file;

	(void)stat;
	(void)ftw;
	if (type != FTW_F)
		return 0;
	if (matrix->file_count == FILES_MAX)
		die("too many files");
	file = &matrix->files[matrix->file_count++];
	snprintf(file->name, sizeof(file->name), "%.63s", path + strlen(matrix->whole->dir) + 1);
	return file_read_at(AT_FDCWD, path, 1 << 20, &file->bytes, NULL);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static void remove_in(const char *dir, const char *name)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/%s", dir, name);

	unlink(path);
}

static void apply(struct matrix *matrix, const struct change *change)
{
	const char *dirs[] = {matrix->whole->dir, matrix->alone->dir};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		if (i == 1 && !is_lines(change->name))
			continue;
		if (change->bytes == NULL)
			remove_in(dirs[i], change->name);
		else
			forge_write_file(dirs[i], change->name, change->bytes, change->len);
	}
}

static void restore(struct matrix *matrix, const char *name)
{
	struct change change = {.name = name};

	for (size_t i = 0; i < matrix->file_count; i++)
		if (strcmp(matrix->files[i].name, name) == 0) {
			change.bytes = buf_str(&matrix->files[i].bytes);
			change.len = matrix->files[i].bytes.len;
		}
	apply(matrix, &change);
}

/* Verdicts. */
static bool judge_alone(struct matrix *matrix)
{
	CLEANUP(mem_freep) struct audit_report *report = mem_alloc(sizeof(*report));
	CLEANUP(log_dir_close) struct log_dir dir = {.path = NULL};
	struct audit_verify_options options = {.keys = NULL};
	CLEANUP(audit_verify_freep) struct audit_verify *verify = audit_verify_new(&options);
	struct err err;

	if (log_dir_open(matrix->alone->dir, &dir, &err) < 0)
		die(err.text);
	for (size_t i = 0; i < dir.count; i++) {
		CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

		if (log_dir_read(&dir, dir.parts[i].name, 1 << 20, &bytes, &err) < 0)
			die(err.text);
		audit_verify_feed(verify, buf_str(&bytes), bytes.len);
	}
	audit_verify_end(verify, report);
	return report->exit_code >= EXIT_TRUNCATED;
}

static void judge(struct matrix *matrix)
{
	bool noticed = forge_check(matrix->whole) != 0;

	matrix->tally.tries++;
	matrix->tally.noticed[0] += judge_alone(matrix);
	matrix->tally.noticed[1] += noticed;
	/* A further head can only add findings. */
	matrix->tally.noticed[2] += noticed || forge_check_kept(matrix->whole, matrix->kept) != 0;
}

static void try_changes(struct matrix *matrix, const struct change *changes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		apply(matrix, &changes[i]);
	judge(matrix);
	for (size_t i = 0; i < count; i++)
		restore(matrix, changes[i].name);
}

static void begin(struct matrix *matrix)
{
	memset(&matrix->tally, 0, sizeof(matrix->tally));
}

static void row(struct matrix *matrix, const char *what, const char *why)
{
	const struct tally *tally = &matrix->tally;

	buf_addf(&matrix->out, "| %s | %u |", what, tally->tries);
	for (size_t i = 0; i < MEANS; i++)
		buf_addf(&matrix->out, " %u |", tally->noticed[i]);
	buf_addf(&matrix->out, " %s |\n", why);
	begin(matrix);
}

/* Attacks without a key. */
static void flip_bits(struct matrix *matrix, bool (*takes)(const char *name))
{
	for (size_t f = 0; f < matrix->file_count; f++) {
		struct file *file = &matrix->files[f];
		CLEANUP(mem_freep) char *bytes = mem_copy(file->bytes.bytes, file->bytes.len);
		struct change change = {file->name, bytes, file->bytes.len};

		if (!takes(file->name))
			continue;
		for (size_t i = 0; i < file->bytes.len; i++)
			for (int bit = 0; bit < 8; bit++) {
				bytes[i] = (char)(bytes[i] ^ (1 << bit));
				apply(matrix, &change);
				judge(matrix);
				bytes[i] = (char)(bytes[i] ^ (1 << bit));
			}
		restore(matrix, file->name);
	}
}

static bool is_checkpoint(const char *name)
{
	return strcmp(name, "checkpoint") == 0;
}

static bool is_seal(const char *name)
{
	return strstr(name, ".checkpoint") != NULL;
}

static bool is_tile(const char *name)
{
	return strncmp(name, "tile/", 5) == 0;
}

static bool is_sums(const char *name)
{
	return strcmp(name, "SHA256SUMS") == 0;
}

/* The lines of all segments as one list; order[] names a line for each place, whichever segment
 * has it; places stay in the segment they are in. */
static void try_order(struct matrix *matrix, const char *const *lines, size_t count,
		      const size_t *places)
{
	const struct forge *forge = matrix->whole->forge;
	struct buf bytes[RECORDS];
	struct change changes[RECORDS];
	char names[RECORDS][AUDIT_NAME_MAX];

	memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < count; i++)
		buf_addf(&bytes[places[i]], "%s\n", lines[i]);
	for (size_t s = 0; s < forge->segments; s++) {
		segment_path(forge->firsts[s], AUDIT_RECORDS, names[s]);
		changes[s] = (struct change){names[s], buf_str(&bytes[s]), bytes[s].len};
	}
	try_changes(matrix, changes, forge->segments);
	for (size_t s = 0; s < forge->segments; s++)
		buf_clear(&bytes[s]);
}

static size_t all_lines(const struct matrix *matrix, const char **lines, size_t *places)
{
	const struct forge *forge = matrix->whole->forge;

	for (size_t i = 0; i < forge->count; i++) {
		lines[i] = forge->entries[i];
		places[i] = i / PER_SEGMENT;
	}
	return forge->count;
}

static void put_in(const char **lines, size_t *places, size_t *count, size_t at, const char *line)
{
	memmove(lines + at + 1, lines + at, (*count - at) * sizeof(*lines));
	memmove(places + at + 1, places + at, (*count - at) * sizeof(*places));
	lines[at] = line;
	places[at] = at == 0 ? 0 : places[at - 1];
	(*count)++;
}

static void delete_each(struct matrix *matrix)
{
	const char *lines[RECORDS + 1];
	size_t places[RECORDS + 1];

	for (size_t gone = 0; gone < RECORDS; gone++) {
		size_t count = all_lines(matrix, lines, places);

		memmove(lines + gone, lines + gone + 1, (count - gone - 1) * sizeof(*lines));
		memmove(places + gone, places + gone + 1, (count - gone - 1) * sizeof(*places));
		try_order(matrix, lines, count - 1, places);
	}
}

static void swap_each(struct matrix *matrix)
{
	const char *lines[RECORDS + 1];
	size_t places[RECORDS + 1];

	for (size_t a = 0; a < RECORDS; a++)
		for (size_t b = a + 1; b < RECORDS; b++) {
			size_t count = all_lines(matrix, lines, places);
			const char *line = lines[a];

			lines[a] = lines[b];
			lines[b] = line;
			try_order(matrix, lines, count, places);
		}
}

static void duplicate_each(struct matrix *matrix)
{
	const char *lines[RECORDS + 2];
	size_t places[RECORDS + 2];

	for (size_t twice = 0; twice < RECORDS; twice++) {
		size_t count = all_lines(matrix, lines, places);

		put_in(lines, places, &count, twice + 1, lines[twice]);
		try_order(matrix, lines, count, places);
	}
}

/* A record of another history of the same log, at each place. */
static void insert_each(struct matrix *matrix)
{
	const char *lines[RECORDS + 2];
	size_t places[RECORDS + 2];
	struct forge *other = forge_new();

	forge_records(other, RECORDS + 1, PER_SEGMENT, 0, "t-foreign");
	for (size_t at = 0; at <= RECORDS; at++) {
		size_t count = all_lines(matrix, lines, places);

		put_in(lines, places, &count, at, other->entries[at]);
		try_order(matrix, lines, count, places);
	}
	forge_free(other);
}

/* The stream of all lines cut behind so many bytes; later segments are gone. */
static void cut_each(struct matrix *matrix)
{
	const struct forge *forge = matrix->whole->forge;

	for (size_t s = 0; s < forge->segments; s++) {
		CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
		struct change changes[RECORDS];
		char names[RECORDS][AUDIT_NAME_MAX];

		forge_segment(forge, s, &bytes);
		for (size_t i = s; i < forge->segments; i++) {
			segment_path(forge->firsts[i], AUDIT_RECORDS, names[i]);
			changes[i - s] = (struct change){.name = names[i]};
		}
		for (size_t len = 0; len < bytes.len; len++) {
			changes[0].bytes = len == 0 && s > 0 ? NULL : buf_str(&bytes);
			changes[0].len = len;
			try_changes(matrix, changes, forge->segments - s);
		}
	}
}

static void remove_each_file(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->file_count; i++) {
		struct change change = {.name = matrix->files[i].name};

		if (is_tile(change.name) || is_sums(change.name))
			continue;
		try_changes(matrix, &change, 1);
	}
}

static void remove_each_cache(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->file_count; i++) {
		struct change change = {.name = matrix->files[i].name};

		if (is_tile(change.name) || is_sums(change.name))
			try_changes(matrix, &change, 1);
	}
}

static void replace_each_file(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->file_count; i++)
		for (size_t j = 0; j < matrix->file_count; j++) {
			struct change change = {matrix->files[i].name,
						buf_str(&matrix->files[j].bytes),
						matrix->files[j].bytes.len};

			if (i != j)
				try_changes(matrix, &change, 1);
		}
}

/* Another folder in the place of ours, as a whole. */
static void try_folder(struct matrix *matrix, const struct forge *other, const char *head)
{
	forge_place_empty(matrix->whole);
	forge_place_empty(matrix->alone);
	if (other->count > 0) {
		forge_write(other, matrix->whole->dir);
		if (head != NULL)
			forge_write_file(matrix->whole->dir, "checkpoint", head, strlen(head));
		for (size_t s = 0; s < other->segments; s++) {
			CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
			char path[AUDIT_NAME_MAX];

			forge_segment(other, s, &bytes);
			segment_path(other->firsts[s], AUDIT_RECORDS, path);
			forge_write_file(matrix->alone->dir, path, buf_str(&bytes), bytes.len);
		}
	}
	judge(matrix);
}

static void reset_folder(struct matrix *matrix)
{
	forge_place_empty(matrix->whole);
	forge_place_empty(matrix->alone);
	for (size_t i = 0; i < matrix->file_count; i++)
		restore(matrix, matrix->files[i].name);
}

/* What was really there once, with its own signed heads. An older state's last segment is open. */
static void cut_history(struct forge *forge, size_t size)
{
	forge->count = size;
	while (forge->segments > 0 && forge->firsts[forge->segments - 1] >= size)
		forge->segments--;
}

static void roll_back_each(struct matrix *matrix)
{
	for (size_t size = 1; size < RECORDS; size++) {
		struct forge *older = forge_new();

		forge_records(older, RECORDS, PER_SEGMENT, RECORDS, "");
		cut_history(older, size);
		try_folder(matrix, older, NULL);
		older->count = RECORDS;
		forge_free(older);
	}
	reset_folder(matrix);
}

/* All hashes fitted behind the changed record, but no key: seals and head stay as they were. */
static void rewrite_without_key(struct matrix *matrix)
{
	for (size_t k = 1; k < RECORDS; k++) {
		struct forge *other = forge_new();
		struct change changes[RECORDS];
		struct buf bytes[RECORDS];
		char names[RECORDS][AUDIT_NAME_MAX];

		forge_records(other, RECORDS, PER_SEGMENT, k, "t-new");
		memset(bytes, 0, sizeof(bytes));
		for (size_t s = 0; s < other->segments; s++) {
			forge_segment(other, s, &bytes[s]);
			segment_path(other->firsts[s], AUDIT_RECORDS, names[s]);
			changes[s] = (struct change){names[s], buf_str(&bytes[s]), bytes[s].len};
		}
		try_changes(matrix, changes, other->segments);
		for (size_t s = 0; s < other->segments; s++)
			buf_clear(&bytes[s]);
		forge_free(other);
	}
}

/* With keys. A thief of today's keys can sign heads and the open segment's epoch; the seals of
 * earlier segments need keys that are gone, and he signs those with the one he has. */
static void resign(struct matrix *matrix, size_t records, size_t per_segment, bool all_epochs)
{
	for (size_t k = 1; k < records; k++) {
		struct forge *other = forge_new();
		struct sign_key *own[FORGE_SEGMENTS_MAX + 1];

		forge_records(other, records, per_segment, k, "t-new");
		memcpy(own, other->epoch_keys, sizeof(own));
		for (size_t s = 0; !all_epochs && s + 1 < other->segments; s++)
			if (other->firsts[s + 1] > k) /* a seal below k stays the genuine one */
				other->epoch_keys[s] = own[other->segments - 1];
		try_folder(matrix, other, NULL);
		memcpy(other->epoch_keys, own, sizeof(own));
		forge_free(other);
	}
	reset_folder(matrix);
}

/* Anchors at a cadence: the auditor holds every n-th head of the true history. */
static void resign_anchored(struct matrix *matrix, size_t records, size_t cadence)
{
	struct forge *truth = forge_new();
	size_t anchored = records / cadence * cadence;
	char *kept;
	char *before = matrix->kept;

	forge_records(truth, records, 0, records, "");
	kept = forge_head(truth, anchored, false, false);
	matrix->kept = kept;
	for (size_t k = 1; k < records; k++) {
		struct forge *other = forge_new();

		forge_records(other, records, 0, k, "t-new");
		try_folder(matrix, other, NULL);
		forge_free(other);
	}
	matrix->kept = before;
	mem_free(kept);
	forge_free(truth);
	reset_folder(matrix);
}

/* Two histories for two readers: the reader of one holds a head of the other. */
static void fork_each(struct matrix *matrix)
{
	char *before = matrix->kept;

	for (size_t k = 1; k < RECORDS; k++) {
		struct forge *other = forge_new();

		forge_records(other, RECORDS, PER_SEGMENT, k, "t-fork");
		matrix->kept = forge_head(other, RECORDS, true, false);
		judge(matrix);
		mem_free(matrix->kept);
		forge_free(other);
	}
	matrix->kept = before;
}

/* The same fork, offered to a witness that cosigned the first history at size RECORDS. */
static unsigned int witness_refuses_forks(const struct matrix *matrix)
{
	unsigned int refused = 0;

	for (size_t k = 1; k < RECORDS; k++) {
		struct forge *other = forge_new();
		struct checkpoint latest, ignored;
		CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
		CLEANUP(mem_freep) char *head = NULL;
		CLEANUP(buf_clear) struct buf body = BUF_INIT;
		struct witness_request request;
		const struct proof none = {.count = 0};
		struct err err;

		if (note_parse(matrix->kept, strlen(matrix->kept), note, &err) < 0 ||
		    checkpoint_parse(note->text, note->text_len, &latest, &err) < 0)
			die(err.text);
		forge_records(other, RECORDS, PER_SEGMENT, k, "t-fork");
		head = forge_head(other, RECORDS, true, false);
		witness_request_write(RECORDS, &none, head, strlen(head), &body);
		if (witness_request_parse(body.bytes, body.len, &request, &err) < 0)
			die(err.text);
		refused += witness_judge(&request, &other->log_vkey, 1, &latest, &ignored, &err) ==
			   WITNESS_UNPROVEN;
		forge_free(other);
	}
	return refused;
}

static void head_of_page(struct matrix *matrix)
{
	buf_addf(
		&matrix->out,
		"# Tamper matrix\n"
		"\n"
		"Generated by `tests/tamper/tamper_matrix.c`, which a test runs and compares with "
		"this page. It damages a log of %d records in segments of %d, with seals, epoch "
		"keys, head, tiles and SHA256SUMS, in every way of a row at every place, and asks "
		"`writ audit verify` three times:\n"
		"\n"
		"- **alone**: the lines and nothing else. Noticed: a verdict of damage (exit 20 to "
		"22).\n"
		"- **head**: the whole folder and the pinned key. Noticed: any exit but 0.\n"
		"- **kept**: and the newest head, kept elsewhere: by an anchor, a witness, or in "
		"an "
		"answer. Noticed: any exit but 0.\n"
		"\n"
		"## Without a key\n"
		"\n"
		"| attack | tries | alone | head | kept | what is not noticed, and why |\n"
		"|---|---|---|---|---|---|\n",
		RECORDS, PER_SEGMENT);
}

static void table_without_key(struct matrix *matrix)
{
	flip_bits(matrix, is_lines);
	row(matrix, "one bit of the lines flipped",
	    "alone: changes within the last record that leave its form good; nothing behind it "
	    "holds its hash");
	delete_each(matrix);
	row(matrix, "a record deleted", "alone: the last one");
	swap_each(matrix);
	row(matrix, "two records swapped", "");
	duplicate_each(matrix);
	row(matrix, "a record repeated", "");
	insert_each(matrix);
	row(matrix, "a record of another history inserted", "");
	cut_each(matrix);
	row(matrix, "the lines cut at every byte",
	    "alone: a cut leaves a shorter log, and one within a line looks like an unfinished "
	    "write");
	rewrite_without_key(matrix);
	row(matrix, "rewritten from each record on, every hash fitted",
	    "alone: a chain that is made anew is a chain");
	flip_bits(matrix, is_checkpoint);
	row(matrix, "one bit of the newest head flipped",
	    "alone: there is no head. head: within the name or key id of the second signature "
	    "line, that of the epoch, which then counts as a line of an unknown key; the first "
	    "line, of the log's key, still proves the head, and the epoch's is only demanded of "
	    "seals");
	flip_bits(matrix, is_seal);
	row(matrix, "one bit of a seal flipped",
	    "alone: there are no seals. head: within the name or key id of the line of the log's "
	    "key; the epoch's line and the newest head still prove the seal's root");
	flip_bits(matrix, is_tile);
	row(matrix, "one bit of a tile flipped", "alone: there are no tiles");
	flip_bits(matrix, is_sums);
	row(matrix, "one bit of SHA256SUMS flipped", "alone: there is no such file");
	remove_each_file(matrix);
	row(matrix, "a segment, seal or head removed",
	    "alone: the last segment, and files that it does not have");
	remove_each_cache(matrix);
	row(matrix, "a tile or SHA256SUMS removed",
	    "both are made of the lines and can be made again; missing tiles are counted");
	replace_each_file(matrix);
	row(matrix, "a file replaced by another one", "alone: files that it does not have");
	roll_back_each(matrix);
	row(matrix, "the whole folder rolled back to each older state",
	    "alone and head: an older state was good in its time; only something kept elsewhere "
	    "is newer");
}

static void table_with_key(struct matrix *matrix)
{
	unsigned int refused;

	buf_addf(&matrix->out,
		 "\n## With stolen keys\n"
		 "\n"
		 "The thief has the log's key and that of the epoch in force, and changes record k "
		 "and all behind it, for each k, with every hash, seal and head made anew.\n"
		 "\n"
		 "| attack | tries | alone | head | kept | what is not noticed, and why |\n"
		 "|---|---|---|---|---|---|\n");
	resign(matrix, RECORDS, PER_SEGMENT, false);
	row(matrix, "rewritten and signed again",
	    "alone: a chain. head: from the beginning of the epoch in force on; seals of earlier "
	    "epochs need keys that are gone");
	resign(matrix, RECORDS, PER_SEGMENT, true);
	row(matrix, "the same by a thief who kept the key of every epoch from the start",
	    "alone and head: nothing in the folder is beyond his keys");
	fork_each(matrix);
	row(matrix, "a second history for another reader",
	    "alone and head: as long as the two readers' heads do not meet");
	refused = witness_refuses_forks(matrix);
	buf_addf(&matrix->out,
		 "\nA witness that cosigned the first history refuses the second in %u of %u tries "
		 "(status 422).\n"
		 "\n## Stolen keys and the cadence of anchors\n"
		 "\n"
		 "280 records in one segment; the auditor holds every n-th head of the true "
		 "history. "
		 "Record k is changed and all behind it signed anew, for each k from 1 to 279.\n"
		 "\n"
		 "| cadence | tries | alone | head | kept | what is not noticed, and why |\n"
		 "|---|---|---|---|---|---|\n",
		 refused, RECORDS - 1);
	resign_anchored(matrix, 280, 1);
	row(matrix, "every record", "");
	resign_anchored(matrix, 280, 10);
	row(matrix, "every 10 records",
	    "280 is a multiple of 10: nothing is behind the last anchor");
	resign_anchored(matrix, 280, 256);
	row(matrix, "every 256 records", "records 256 to 279, behind the last anchor");
	buf_addf(&matrix->out, "\n## What no column can notice\n"
			       "\n"
			       "An event that was never recorded, a false record by an honest "
			       "signer, and a record "
			       "behind the newest head that left the machine.\n");
}

static struct matrix *matrix_new(void)
{
	struct matrix *matrix = mem_alloc(sizeof(*matrix));

	matrix->whole = forge_place_new();
	matrix->alone = forge_place_new();
	forge_records(matrix->whole->forge, RECORDS, PER_SEGMENT, RECORDS, "");
	forge_write(matrix->whole->forge, matrix->whole->dir);
	matrix->kept = forge_head(matrix->whole->forge, RECORDS, true, false);
	loading = matrix;
	if (nftw(matrix->whole->dir, load, 8, FTW_PHYS) != 0)
		die("the log cannot be read back");
	qsort(matrix->files, matrix->file_count, sizeof(matrix->files[0]), by_name);
	reset_folder(matrix);
	return matrix;
}

static void matrix_free(struct matrix *matrix)
{
	for (size_t i = 0; i < matrix->file_count; i++)
		buf_clear(&matrix->files[i].bytes);
	forge_place_free(matrix->whole);
	forge_place_free(matrix->alone);
	mem_free(matrix->kept);
	buf_clear(&matrix->out);
	mem_free(matrix);
}

static int compare(const struct matrix *matrix, const char *path)
{
	CLEANUP(buf_clear) struct buf page = BUF_INIT;
	struct err err;

	if (file_read_at(AT_FDCWD, path, 1 << 20, &page, &err) < 0)
		die(err.text);
	if (page.len == matrix->out.len && memcmp(page.bytes, matrix->out.bytes, page.len) == 0) {
		printf("ok 1 - %s says what was measured\n1..1\n", path);
		return 0;
	}
	printf("not ok 1 - %s differs from what was measured:\n%s\n1..1\n", path,
	       buf_str(&matrix->out));
	return 1;
}

int main(int argc, char **argv)
{
	struct matrix *matrix;
	int code = 0;

	crypto_init();
	matrix = matrix_new();
	if (forge_check(matrix->whole) != 0 || judge_alone(matrix) != 0)
		die("the untouched log does not verify");
	head_of_page(matrix);
	table_without_key(matrix);
	table_with_key(matrix);
	if (argc == 3 && strcmp(argv[1], "--check") == 0)
		code = compare(matrix, argv[2]);
	else
		fwrite(matrix->out.bytes, 1, matrix->out.len, stdout);
	matrix_free(matrix);
	return code;
}
