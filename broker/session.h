/*
 * Sessions: who connects to the local socket, and the channel that stands for them.
 *
 *   accept --> SO_PEERCRED --> user map --> mapped: record, session channel and connection go to
 * the orchestrator by lane
 *                                       --> not mapped: one line with what to add, record, close
 */
#ifndef BROKER_SESSION_H
#define BROKER_SESSION_H

#include "broker/broker.h"

struct listener;

/* Watches the listening socket (taken). */
struct listener *listener_open(struct broker *broker, int fd);
/* Accepts whatever waits, if sessions can be opened now. Returns how many were taken. */
int listener_accept(struct listener *listener);
void listener_close(struct listener *listener); /* NULL is fine */

/* One accepted connection (taken). */
void session_accept(struct broker *broker, int connection_fd);
/* Ends all its tasks, revokes their tokens, frees. */
void session_close(struct session *session, const char *cause);
void sessions_close_all(struct broker *broker, const char *cause);
/* After a reload: rights are taken over; whoever is no longer mapped loses the session. */
void sessions_map_again(struct broker *broker);
size_t session_running_tasks(const struct broker *broker, const char *su);

#endif
