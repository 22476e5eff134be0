import HTTPCoding
import Hummingbird
import NIOCore

/// Server-sent events (WHATWG HTML, section 9.2).
enum EventStream {
    /// Writes events until the caller goes or the stream ends, as it does when the daemon stops.
    ///
    /// No keep-alive is sent: on a Unix socket the kernel tells both ends when the other is gone. The stream is read as it is:
    /// merged with anything, each event would go through two threads more.
    static func answer(_ events: AsyncStream<Event>, for request: Request) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: ResponseBody { writer in
                // The comment sends the head, so that the caller knows that it is subscribed.
                try await writer.write(ByteBuffer(string: ": subscribed\n\n"))
                try await request.body.consumeWithCancellationOnInboundClose { _ in
                    for await event in events {
                        try await writer.write(ByteBuffer(bytes: try encode(event)))
                    }
                }
                try await writer.finish(nil)
            })
    }

    static func encode(_ event: Event) throws -> [UInt8] {
        Array("event: \(event.type)\ndata: ".utf8) + (try JSON.encode(event)) + Array("\n\n".utf8)
    }
}
