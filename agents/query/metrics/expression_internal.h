/* Between the files that parse expressions only; expression_parse.c is the one to read first. */
#ifndef AGENTS_QUERY_METRICS_EXPRESSION_INTERNAL_H
#define AGENTS_QUERY_METRICS_EXPRESSION_INTERNAL_H

#include "agents/query/metrics/expression.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN };

struct parser {
	const char *source;
	size_t at; /* behind the current token */
	enum token_kind kind;
	struct buf token; /* its text: words as written, names and strings unquoted */
	size_t token_at;
	int depth;
	size_t mistake_at;
};

/* expression_token.c: words, names, numbers, texts and signs. */
int parse_mistake(struct parser *parser, size_t at, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
MUST_CHECK int token_next(struct parser *parser, struct err *err);
bool token_is_word(const struct parser *parser, const char *word); /* case does not count */
bool token_is_sign(const struct parser *parser, const char *sign);
/* "a value is expected here, not ..."; returns -1. */
int token_unexpected(struct parser *parser, const char *wanted, struct err *err);
MUST_CHECK int token_want_sign(struct parser *parser, const char *sign, struct err *err);
MUST_CHECK int token_want_word(struct parser *parser, const char *word, struct err *err);

/* expression_value.c: what stands between operators. */
MUST_CHECK int parse_primary(struct parser *parser, struct expr **ret, struct err *err);

/* expression_parse.c: a whole expression; one that becomes a child; several and the ")". */
typedef int parse_fn(struct parser *parser, struct expr **ret, struct err *err);
MUST_CHECK int parse_or(struct parser *parser, struct expr **ret, struct err *err);
MUST_CHECK int parse_into(struct parser *parser, struct expr *parent, parse_fn *parse,
			  struct err *err);
MUST_CHECK int parse_list(struct parser *parser, struct expr *parent, struct err *err);

/* expression_window.c: a mistake with the specification's code; takes call; no aggregate in one. */
int parse_refusal(struct parser *parser, size_t at, const char *code, const char *text,
		  struct err *err);
MUST_CHECK int parse_window(struct parser *parser, struct expr *call, struct expr **ret,
			    struct err *err);
MUST_CHECK int parse_check_nested(struct parser *parser, const struct expr *call, struct err *err);
void expr_write_window(const struct expr *window, const struct expr_writer *writer,
		       struct buf *out);

#endif
