/* Pieces of memory in a list, filled from the front; see json_doc.h. A node is never freed by
 * itself. Pieces come from mmap(2), and go back to the system: among small blocks of malloc(3) that
 * were freed, each would cost a walk over all of those. */
#include "base/json_doc.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/give_way.h"
#include "base/json_scan.h"

#define PIECE_BYTES_MIN (16u << 10)  /* each piece is twice as large as the one before */
#define PIECE_BYTES_MAX (128u << 10) /* read in a tenth of a millisecond */
#define ALIGNMENT _Alignof(cJSON)
#define NAMES_KNOWN 128u /* a power of two */

struct piece {
	struct piece *next;
	size_t size;
	max_align_t bytes[];
};

struct arena {
	struct piece *pieces;
	char *at, *end; /* of the first piece */
	size_t next_bytes;
	struct {
		char *text;
		size_t len;
	} names[NAMES_KNOWN]; /* by a hash; a later one takes the place */
};

struct json_doc {
	struct arena arena;
	cJSON *root;
};

static struct piece *new_piece(size_t bytes)
{
	size_t size = sizeof(struct piece) + bytes;
	struct piece *piece =
		mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE /* all of it is used */, -1, 0);

	if (piece == MAP_FAILED)
		return NULL;
	piece->size = size;
	return piece;
}

/* Where the next piece begins is aligned for whatever comes first. */
static int new_front(struct arena *arena)
{
	size_t bytes = arena->next_bytes;
	struct piece *piece;

	if (bytes == 0)
		bytes = PIECE_BYTES_MIN;
	piece = new_piece(bytes);
	if (piece == NULL)
		return -1;
	arena->next_bytes = bytes < PIECE_BYTES_MAX ? bytes * 2 : bytes;
	piece->next = arena->pieces;
	arena->pieces = piece;
	arena->at = (char *)piece->bytes;
	arena->end = arena->at + bytes;
	give_way();
	return 0;
}

/* What is large gets a piece of its own, behind the one that is being filled. */
static void *take_large(struct arena *arena, size_t bytes)
{
	struct piece *piece = new_piece(bytes);

	if (piece == NULL)
		return NULL;
	if (arena->pieces != NULL) {
		piece->next = arena->pieces->next;
		arena->pieces->next = piece;
	} else {
		arena->pieces = piece;
	}
	return piece->bytes;
}

static void *take(struct arena *arena, size_t bytes, size_t alignment)
{
	size_t skip;
	char *taken;

	if (bytes > PIECE_BYTES_MIN / 4)
		return take_large(arena, bytes);
	skip = (alignment - (uintptr_t)arena->at % alignment) % alignment;
	if (bytes + skip > (size_t)(arena->end - arena->at)) {
		if (new_front(arena) < 0)
			return NULL;
		skip = 0;
	}
	taken = arena->at + skip;
	arena->at = taken + bytes;
	return taken;
}

void *arena_take(struct arena *arena, size_t size)
{
	return take(arena, size, ALIGNMENT);
}

char *arena_text(struct arena *arena, const char *text, size_t len)
{
	char *copy = take(arena, len + 1, 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

static size_t place_of(const char *name, size_t len)
{
	size_t hash = len;

	if (len > 0)
		hash += (size_t)(unsigned char)name[0] * 31 +
			(size_t)(unsigned char)name[len - 1] * 7;
	return hash % NAMES_KNOWN;
}

/* Members of one kind have the same few names, again and again. */
char *arena_name(struct arena *arena, const char *name, size_t len)
{
	size_t place = place_of(name, len);
	char *known = arena->names[place].text;

	if (known != NULL && arena->names[place].len == len && memcmp(known, name, len) == 0)
		return known;
	known = arena_text(arena, name, len);
	arena->names[place].text = known;
	arena->names[place].len = len;
	return known;
}

int json_doc_parse(const char *bytes, size_t len, size_t len_max, struct json_doc **ret_doc,
		   struct err *err)
{
	CLEANUP(json_doc_freep) struct json_doc *doc = mem_alloc(sizeof(*doc));

	if (scan_text(bytes, len, len_max, &doc->arena, &doc->root, err) < 0)
		return -1;
	*ret_doc = TAKE(doc);
	return 0;
}

const struct json *json_doc_root(const struct json_doc *doc)
{
	return json_of_const(doc->root);
}

void json_doc_free(struct json_doc *doc)
{
	if (doc == NULL)
		return;
	while (doc->arena.pieces != NULL) {
		struct piece *piece = doc->arena.pieces;

		doc->arena.pieces = piece->next;
		munmap(piece, piece->size);
		give_way();
	}
	mem_free(doc);
}

void json_doc_freep(struct json_doc **doc)
{
	json_doc_free(*doc);
}
