/*
 * writ audit prove: the proof that a record is under a signed head (C2SP tlog-proof), that one head
 * continues another (the body of a C2SP witness request), and the check of a proof file. A proof is
 * checked before it is printed. What can fail: files; a log whose tiles do not give its head's
 * root.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/log_nodes.h"
#include "broker/audit/log_walk.h"
#include "broker/audit/proof_check.h"
#include "broker/audit/witness.h"
#include "cli/audit_source.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"

#define PROOF_FILE_MAX (256u << 10)

struct prove {
	struct audit_source_options place;
	const char *number;
	const char *from;
	const char *check;
	const char *entry;

	struct audit_source source;
	struct buf head_note;
	struct checkpoint head;
};

static int read_word(int argc, char **argv, int *at, struct prove *prove)
{
	const struct {
		const char *name;
		const char **value;
	} valued[] = {{"-C", &prove->place.workspace},
		      {"--from", &prove->from},
		      {"--check", &prove->check},
		      {"--record", &prove->entry},
		      {"--key", &prove->place.keys[0]}};
	int found = 0;

	for (size_t i = 0; found == 0 && i < ARRAY_LEN(valued); i++)
		found = audit_option(argc, argv, at, valued[i].name, valued[i].value);
	if (found < 0)
		return cli_usage("audit prove", "%s needs a value", argv[*at]);
	if (found > 0)
		return 0;
	if (argv[*at][0] == '-')
		return cli_usage("audit prove", "no option %s", argv[*at]);
	if (prove->number == NULL && prove->from == NULL && prove->check == NULL &&
	    argv[*at][0] >= '0' && argv[*at][0] <= '9')
		prove->number = argv[*at];
	else if (prove->place.path == NULL)
		prove->place.path = argv[*at];
	else
		return cli_usage("audit prove", "too many words: %s", argv[*at]);
	return 0;
}

static int read_number(const char *text, uint64_t *ret, struct err *err)
{
	char *end = NULL;
	unsigned long long value = strtoull(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || value >= JSON_INT_MAX)
		return err_set(err, ERR_INVALID, "%s is no number of a record", text);
	*ret = value;
	return 0;
}

static int read_head(struct prove *prove, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));

	if (log_dir_read(&prove->source.dir, AUDIT_CHECKPOINT, NOTE_BYTES_MAX, &prove->head_note,
			 err) < 0 ||
	    note_parse(buf_str(&prove->head_note), prove->head_note.len, note, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &prove->head, err) < 0)
		return err_wrap(err, "the log's checkpoint");
	return 0;
}

/* Finds the line of a record; on_line counts within its segment. */
struct finding {
	uint64_t want;
	uint64_t at;
	struct buf *out;
};

static int on_line(void *data, const struct log_line *line, struct err *err)
{
	struct finding *finding = data;

	(void)err;
	if (finding->at++ != finding->want)
		return 0;
	buf_add(finding->out, line->entry, line->len);
	return 1;
}

static int find_record(const struct log_dir *dir, uint64_t seq, struct buf *out, struct err *err)
{
	size_t part = 0;
	struct finding finding = {.want = seq, .out = out};
	uint64_t end;
	int found;

	while (part + 1 < dir->count && dir->parts[part + 1].first <= seq)
		part++;
	if (dir->count == 0 || !dir->parts[part].has_lines)
		return err_set(err, ERR_NOT_FOUND, "the lines of record %llu are not there",
			       (unsigned long long)seq);
	finding.at = dir->parts[part].first;
	found = log_walk_part(dir, part, 0, on_line, &finding, &end, err);
	if (found == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no record %llu",
			       (unsigned long long)seq);
	return found < 0 ? -1 : 0;
}

static int prove_record(struct prove *prove, struct err *err)
{
	struct log_nodes nodes = {.dir = &prove->source.dir, .size = prove->head.size};
	struct node_reader reader = log_node_reader(&nodes);
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	uint8_t leaf[SHA256_LEN];
	struct proof proof;
	uint64_t seq = 0;
	int result;

	if (read_number(prove->number, &seq, err) < 0 ||
	    find_record(&prove->source.dir, seq, &line, err) < 0)
		return -1;
	leaf_hash(buf_str(&line), line.len, leaf);
	result = proof_inclusion(&reader, seq, prove->head.size, &proof, err);
	if (result == 0)
		result = proof_includes(&proof, leaf, seq, prove->head.size, prove->head.root, err);
	log_nodes_clear(&nodes);
	if (result < 0)
		return err_wrap(err, "record %llu", (unsigned long long)seq);
	proof_write(&proof, seq, buf_str(&prove->head_note), &out);
	fwrite(out.bytes, 1, out.len, stdout);
	return 0;
}

/* --from: a size, or a file with an older head. */
static int read_from(const struct prove *prove, uint64_t *ret_size, uint8_t root[SHA256_LEN],
		     bool *ret_has_root, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct checkpoint old;

	*ret_has_root = false;
	if (prove->from[strspn(prove->from, "0123456789")] == '\0')
		return read_number(prove->from, ret_size, err);
	if (file_read_at(AT_FDCWD, prove->from, NOTE_BYTES_MAX, &bytes, err) < 0)
		return -1;
	if (note_parse(buf_str(&bytes), bytes.len, note, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &old, err) < 0)
		return err_wrap(err, "%s", prove->from);
	*ret_size = old.size;
	memcpy(root, old.root, SHA256_LEN);
	*ret_has_root = true;
	return 0;
}

static int make_consistency(struct prove *prove, uint64_t size, const uint8_t *known_root,
			    struct proof *ret_proof, struct err *err)
{
	struct log_nodes nodes = {.dir = &prove->source.dir, .size = prove->head.size};
	struct node_reader reader = log_node_reader(&nodes);
	uint8_t root[SHA256_LEN];
	int result = proof_consistency(&reader, size, prove->head.size, ret_proof, err);

	if (result == 0 && known_root == NULL)
		result = proof_root(&reader, size, root, err);
	else if (result == 0)
		memcpy(root, known_root, SHA256_LEN);
	if (result == 0)
		result =
			proof_joins(ret_proof, size, root, prove->head.size, prove->head.root, err);
	log_nodes_clear(&nodes);
	return result;
}

static int prove_consistency(struct prove *prove, struct err *err)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	struct proof proof = {.count = 0};
	uint8_t root[SHA256_LEN];
	bool has_root;
	uint64_t size = 0;

	if (read_from(prove, &size, root, &has_root, err) < 0)
		return -1;
	if (size > 0 && make_consistency(prove, size, has_root ? root : NULL, &proof, err) < 0)
		return err_wrap(err, "from %llu to %llu records", (unsigned long long)size,
				(unsigned long long)prove->head.size);
	witness_request_write(size, &proof, buf_str(&prove->head_note), prove->head_note.len, &out);
	fwrite(out.bytes, 1, out.len, stdout);
	return 0;
}

/* --check. */
static int check_proof(const struct buf *bytes, const struct buf *line,
		       const struct audit_source *source, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct checkpoint head;
	struct proof proof;
	uint64_t index = 0;
	const char *text = NULL;
	size_t len = 0;
	uint8_t leaf[SHA256_LEN];

	if (proof_read(buf_str(bytes), bytes->len, &proof, &index, &text, &len, err) < 0 ||
	    note_parse(text, len, note, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &head, err) < 0)
		return -1;
	leaf_hash(buf_str(line), line->len, leaf);
	if (proof_includes(&proof, leaf, index, head.size, head.root, err) < 0)
		return -1;
	if (source->key_count == 0) {
		printf("record %llu is under the head of %llu records of %s; no key was pinned, so "
		       "whose head that is stays open\n",
		       (unsigned long long)index, (unsigned long long)head.size, head.origin);
		return EXIT_UNSIGNED;
	}
	if (note_verify(note, source->keys, source->key_count, err) < 0)
		return -1;
	printf("record %llu is under the signed head of %llu records of %s\n",
	       (unsigned long long)index, (unsigned long long)head.size, head.origin);
	return EXIT_FINE;
}

static int check_file(struct prove *prove)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	struct err err;
	int code;

	if (prove->entry == NULL)
		return cli_usage("audit prove",
				 "--check needs --record FILE, the line it is about");
	if (file_read_at(AT_FDCWD, prove->check, PROOF_FILE_MAX, &bytes, &err) < 0 ||
	    file_read_at(AT_FDCWD, prove->entry, WRIT_RECORD_BYTES_MAX + 1, &line, &err) < 0)
		return cli_fail(EXIT_USAGE, "audit prove: %s", err.text);
	if (line.len > 0 && line.bytes[line.len - 1] == '\n')
		line.len--;
	code = check_proof(&bytes, &line, &prove->source, &err);
	return code < 0 ? cli_fail(EXIT_TAMPERED, "audit prove: the proof does not hold: %s",
				   err.text)
			: code;
}

static int run(struct prove *prove)
{
	struct err err;

	if (prove->number == NULL && prove->from == NULL && prove->check == NULL)
		return cli_usage("audit prove", "which record?");
	prove->place.key_count = prove->place.keys[0] != NULL;
	if (prove->check != NULL && prove->place.path == NULL && prove->place.workspace == NULL)
		prove->place.path = prove->check; /* no log is needed for that */
	if (audit_source_find(&prove->place, &prove->source, &err) < 0)
		return cli_fail(EXIT_USAGE, "audit prove: %s", err.text);
	if (prove->check != NULL)
		return check_file(prove);
	if (read_head(prove, &err) < 0 ||
	    (prove->number != NULL ? prove_record(prove, &err) : prove_consistency(prove, &err)) <
		    0)
		return cli_fail(err.kind == ERR_IO	    ? EXIT_IO
				: err.kind == ERR_NOT_FOUND ? EXIT_USAGE
							    : EXIT_NEGATIVE,
				"audit prove: %s", err.text);
	return EXIT_FINE;
}

int cmd_audit_prove(int argc, char **argv)
{
	struct prove *prove = mem_alloc(sizeof(*prove));
	int code = 0;

	for (int at = 1; code == 0 && at < argc; at++)
		code = read_word(argc, argv, &at, prove);
	if (code == 0)
		code = run(prove);
	buf_clear(&prove->head_note);
	audit_source_clear(&prove->source);
	mem_free(prove);
	return code;
}
