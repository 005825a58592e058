/* Between the files of the compiler only. */
#ifndef POLICY_COMPILE_PARTS_H
#define POLICY_COMPILE_PARTS_H

#include "policy/check.h"
#include "policy/compile.h"
#include "policy/policy.h"
#include "policy/source.h"
#include "policy/symbols.h"

struct compile {
	struct check check;
	const struct policy_world *world;
	struct json *scopes; /* owned; the four members of a bundle */
	struct json *agents;
	struct json *functions;
	struct json *rules;
	const char **agent_names; /* for messages; owned array */
	size_t agent_count;
	const struct yaml **agent_nodes; /* the keys that define them, as agent_names */
	struct symbols rule_ids;
	char **rule_places; /* owned; where each id stands, by symbol */
	size_t rule_place_count;
	size_t rule_place_room;
	struct json *zones; /* owned, as tags */
	struct json *tags;  /* tag -> database -> table -> columns */
	/* of the file being compiled */
	const struct yaml *lists; /* NULL without */
	bool *list_used;
	const char *zone;
};

/* compile_lists.c */
struct list_items { /* of a list, named lists in their place */
	const struct yaml **nodes;
	size_t count;
};
void list_items_of(struct compile *compile, const struct yaml *node, struct list_items *ret_items);
void list_items_clear(struct list_items *items);
void lists_begin(struct compile *compile, const struct yaml *lists); /* of one file; may be NULL */
void lists_end(struct compile *compile);
bool is_word(const struct yaml *node, const char *word);
/* Adds a name once; two spellings of one name count as the same where folded. */
void push_name(struct compile *compile, struct json *list, const struct yaml *node,
	       const char *name, bool folded);
/* The word alone, or a list of names of which none is the word. */
bool is_list_not_word(struct compile *compile, const struct yaml *node, const char *what,
		      const char *word);

/* "scopes/sales.yaml:21". The caller frees it. */
char *place_of(const struct yaml *node);

/* compile_agents.c */
void compile_agents(struct compile *compile, const struct yaml *agents, const char *scope);
void compile_hands_to(struct compile *compile, const struct yaml *agents);
/* compile_tags.c: "tags" of one file, into compile->tags; known before any rule is read */
void compile_tags(struct compile *compile, const struct yaml *tags);
/* table -> columns that carry the tag in a database; NULL with a problem when there is none. */
const struct json *tag_tables(struct compile *compile, const struct yaml *node, const char *tag,
			      const char *database);

/* compile_data.c, compile_when.c, compile_arguments.c, compile_terms.c: members of a rule */
struct json *compile_data(struct compile *compile, const struct yaml *node, bool takes_away);
/* compile_restrict.c: rows, masks and require of the tables, into a rule's data */
void compile_restrictions(struct compile *compile, const struct yaml *tables, const char *database,
			  bool takes_away, struct json *data);
void compile_when(struct compile *compile, const struct yaml *rule, const char *effect,
		  struct json *json);
void compile_matchers(struct compile *compile, const struct yaml *rule, const char *effect,
		      struct json *json);
void compile_terms(struct compile *compile, const struct yaml *rule, const char *effect,
		   struct json *json);
/* "user:alice", "group:sales", "tenant:emea"; NULL with a problem otherwise. */
const char *user_text(struct compile *compile, const struct yaml *node);

/* compile_rules.c; all agents are known */
void compile_rules(struct compile *compile, const struct yaml *rules);

#endif
