/*
 * The fields of one audit record. Each fact has exactly one field.
 *
 * A record is one line of JSON in RFC 8785 order: "_prev" and "_seq" first, every other key of the
 * form [a-z][a-z0-9_]*, ascending by byte at every depth; integers and strings only (booleans and
 * null are written as absent). See docs/audit-format.md.
 *
 * Personal data, questions, SQL text, arguments, results and answers never appear in clear: they
 * enter "cm" as salted digests in SD-JWT coding (RFC 9901) that can be opened or erased later.
 */
#ifndef WRIT_RECORD_H
#define WRIT_RECORD_H

#define REC_PREV "_prev"	 /* leaf hash of the line before, 64 hex; zeros in record 0 */
#define REC_SEQ "_seq"		 /* number of this record, from 0 */
#define REC_ACTION "ac"		 /* read, none */
#define REC_AGENT "ag"		 /* the agent's URI */
#define REC_APPROVAL "ap"	 /* id of an approval: asked for, decided, or used by this call */
#define REC_BY "by"		 /* who revoked, canceled or approved: a pseudonym, or "broker" */
#define REC_BYTES "bs"		 /* bytes scanned */
#define REC_CANDIDATE "cb"	 /* SHA-256 of the candidate bundle, if it says something else */
#define REC_CANDIDATE_DECISION "cd" /* allow, deny, ask: what it says; obeyed by nobody */
#define REC_CAUSE "ca"		 /* why: of a revocation, an end, a recovery */
#define REC_CLIENT "cl"		 /* the agent's name (client_id of its token) */
#define REC_COMMITS "cm"	 /* array of salted digests, sorted */
#define REC_CODE "co"		 /* stable code of a denial or error: no_rule, rule, budget, ... */
#define REC_COUNT "ct"		 /* how many: tokens revoked, bytes cut off */
#define REC_DECISION "dec"	 /* allow, deny, ask */
#define REC_EPOCH "ep"		 /* policy epoch */
#define REC_EVENT "ev"		 /* one of the EV_ names */
#define REC_EXPIRES "ex"	 /* token expiry, seconds since 1970 */
/* What was decided on: {columns, functions, groups, rows, tables}, and, where there are any,
 * {approved, environment, now}; now in seconds since 1970, absent when no rule was asked. */
#define REC_FACTS "fa"
#define REC_INTENT "in"		 /* in a result: _seq of the intent record */
#define REC_JTI "jt"		 /* token id */
#define REC_PARENT_JTI "pj"	 /* the token this one was delegated from */
#define REC_POLICY "pol"	 /* SHA-256 of the bundle in force, 64 hex */
#define REC_RISK "rk"		 /* risk state used; always present on decisions: "none" */
#define REC_ROWS "rn"		 /* rows returned */
#define REC_RESOURCE "rs"	 /* the database */
#define REC_RULE "ru"		 /* id of the rule that decided */
#define REC_RULE_AT "rw"	 /* file:line of that rule */
#define REC_SESSION "se"	 /* session id */
#define REC_SOURCE "src"	 /* observed (by the broker) or reported (to it) */
#define REC_STATUS "st"		 /* outcome of a call (ok, error) or of a task (completed, ...) */
#define REC_SUBJECT "su"	 /* pseudonym of the user: "user:" and 16 hex */
#define REC_TENANT "ten"	 /* the user's tenant */
#define REC_TOKEN_HASH "th"	 /* SHA-256 of the token, 64 hex */
#define REC_TOOL "tl"		 /* tool name */
#define REC_TIME "ts"		 /* UTC, RFC 3339 with microseconds */
#define REC_TASK "tx"		 /* task id: the correlation id (txn) */
#define REC_TRIAL "ty"		 /* kind of task: ask, trial, mcp */
#define REC_VERSION "v"		 /* 1 */
#define REC_ORIGIN "og"		 /* in log.open: origin of the log */
#define REC_LOG_ID "li"		 /* in log.open: random 128-bit id, 32 hex */
#define REC_VKEY "vk"		 /* in log.open: the log's verifier key (C2SP signed-note) */
/* vk in key.rotate: the key that takes its place. Segments and their keys: */
#define REC_EPOCH_KEY "ek" /* key of an epoch: log.open, segment.open its own, .close the next */
#define REC_KEY_EPOCH "ke" /* number of the key epoch whose key "ek" is */
#define REC_SEGMENT "sg"   /* {bytes, count, name, sha256} of the file before, or dropped */
#define REC_OF "of"	   /* in redact: the record it is about */
#define REC_NAME "na"	   /* in redact: name of the committed value (CM_) */
#define REC_FROM "fr"	   /* first record of a range: of read, verify, export, hold */
#define REC_TO "to"	   /* the record behind its last */
#define REC_FORMAT "fm"	   /* of an export: jsonl, csv, ocsf, rfc5424, tiles */
#define REC_SINK "sk"	   /* name of a sink */
#define REC_STEP "ms"	   /* by how many milliseconds the clock stepped, with its sign */
#define REC_HOLD "ho"	   /* name of a legal hold */

#define EV_LOG_OPEN "log.open"
#define EV_LOG_RECOVERED "log.recovered"
#define EV_SERVICE_START "service.start"
#define EV_SERVICE_STOP "service.stop"
#define EV_POLICY_LOAD "policy.load"
#define EV_SESSION_OPEN "session.open"
#define EV_SESSION_REFUSED "session.refused"
#define EV_TASK_OPEN "task.open"
#define EV_TASK_CLOSE "task.close"
#define EV_HANDOFF "handoff"
#define EV_TOKEN_ISSUE "token.issue"
#define EV_TOKEN_REVOKE "token.revoke"
#define EV_APPROVAL "approval" /* someone gave (st given) or refused (st refused) one */
#define EV_TOOL_INTENT "tool.intent" /* carries the decision */
#define EV_TOOL_RESULT "tool.result"
#define EV_REPORT_CHECK "report.check"
#define EV_SEGMENT_OPEN "segment.open"	 /* first of every segment but the first */
#define EV_SEGMENT_CLOSE "segment.close" /* last of every sealed segment */
#define EV_SEGMENT_DROP "segment.drop"	 /* before the lines of a segment are removed */
#define EV_KEY_ROTATE "key.rotate"	 /* from here on another key signs as well */
#define EV_LOG_FULL "log.full"		 /* the disk was full (st full), and no longer (st ok) */
#define EV_CLOCK_STEP "clock.step"
#define EV_REDACT "redact"
#define EV_READ "read"
#define EV_VERIFY "verify"
#define EV_EXPORT "export"
#define EV_ANCHOR "anchor"
#define EV_HOLD "hold"		 /* a legal hold: st set or lifted */
#define EV_SINK_FAIL "sink.fail" /* a sink went down (st down) or came back (st up) */
#define EV_CHANNEL_REFUSED "channel.refused" /* a message its channel may not send */

/* Names of committed values, as they stand in a disclosure [salt, name, value]. */
#define CM_USER "user"
#define CM_QUESTION "question"
#define CM_ARGUMENTS "arguments"
#define CM_SQL "sql"
#define CM_RESULT "result"   /* {columns, rows, row_count, truncated, types} */
#define CM_ANSWER "answer"   /* the text of the answer */
#define CM_HANDOFF "handoff"
#define CM_ERROR "error"
#define CM_FILTER "filter" /* what a reader asked the log for */
#define CM_REASON "reason" /* of a redaction or a hold, in words */
#define CM_PLACE "place"   /* where an anchor went */

#endif
