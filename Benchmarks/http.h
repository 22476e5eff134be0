// As much of HTTP/1.1 (RFC 9112) as it takes to talk to a daemon on its Unix socket: one connection kept alive, bodies
// with a length or in chunks, and streams taken line by line.
#pragma once

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "items.h"

struct Connection {
    int descriptor;
    // The answer in progress. `text` is its body, or of a stream its current line.
    int status, inBody, chunked, afterChunk;
    long bodyLeft;
    size_t headLength, textLength;
    char head[8192], text[1 << 16];
    // Set for a stream: gets each line of the body.
    void (*takeLine)(void *context, const char *line);
    void *context;
};

static inline void die(const char *sentence, int code) {
    fprintf(stderr, "reach: %s\n", sentence);
    exit(code);
}

static inline void connectTo(struct Connection *connection, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) die("the socket's path is too long", 64);
    strcpy(address.sun_path, path);
    memset(connection, 0, sizeof *connection);
    connection->descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(connection->descriptor, (struct sockaddr *)&address, sizeof address)) die("no daemon answers on the socket", 69);
}

static inline void sendRequest(struct Connection *connection, const char *method, const char *path, const char *body) {
    static char request[1 << 17];
    const int length = snprintf(
        request, sizeof request,
        "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", method, path,
        strlen(body), body);
    connection->status = connection->inBody = connection->chunked = connection->afterChunk = 0;
    connection->headLength = connection->textLength = 0;
    if (write(connection->descriptor, request, (size_t)length) != length) die("the daemon closed the connection", 69);
}

static inline void takeText(struct Connection *connection, char byte) {
    if (connection->takeLine && byte == '\n') {
        connection->text[connection->textLength] = 0;
        connection->takeLine(connection->context, connection->text);
        connection->textLength = 0;
    } else if (connection->textLength + 1 < sizeof connection->text) {
        connection->text[connection->textLength++] = byte;
        connection->text[connection->textLength] = 0;
    }
}

// Reads status and framing out of a complete head.
static inline void endHead(struct Connection *connection) {
    connection->inBody = 1;
    connection->status = connection->headLength > 12 ? atoi(connection->head + 9) : 500;
    connection->bodyLeft = 0;
    for (char *line = strchr(connection->head, '\n'); line; line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, "content-length:", 15) == 0) connection->bodyLeft = atol(line + 15);
        if (strncasecmp(line, "transfer-encoding: chunked", 26) == 0) connection->chunked = 1;
    }
    // The text's tail gathers the size of the next chunk.
    connection->headLength = 0;
}

// Takes one byte of the answer; true when it was the last.
static inline int takeByte(struct Connection *connection, char byte) {
    if (connection->inBody && connection->bodyLeft > 0) {
        takeText(connection, byte);
        connection->afterChunk = --connection->bodyLeft == 0;
        return connection->afterChunk && !connection->chunked;
    }
    if (connection->headLength + 1 < sizeof connection->head) connection->head[connection->headLength++] = byte;
    connection->head[connection->headLength] = 0;
    if (!connection->inBody) {
        if (connection->headLength < 4 || strcmp(connection->head + connection->headLength - 4, "\r\n\r\n") != 0) return 0;
        endHead(connection);
        return !connection->chunked && connection->bodyLeft == 0;
    }
    // Between chunks: the end of the last one, then a line with the size of the next, in hexadecimal.
    if (byte != '\n') return 0;
    connection->headLength = 0;
    if (connection->afterChunk) {
        connection->afterChunk = 0;
        return 0;
    }
    connection->bodyLeft = strtol(connection->head, NULL, 16);
    // The last chunk has no bytes; an empty line ends the message.
    if (connection->bodyLeft == 0 && connection->head[0] == '\r') return 1;
    return 0;
}

// Reads what is there; true when the answer is complete.
static inline int receive(struct Connection *connection) {
    static char bytes[1 << 16];
    const ssize_t count = read(connection->descriptor, bytes, sizeof bytes);
    if (count <= 0) die("the daemon closed the connection", 69);
    int complete = 0;
    for (ssize_t at = 0; at < count; at++) complete |= takeByte(connection, bytes[at]);
    return complete;
}
