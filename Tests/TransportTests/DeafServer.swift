import Glibc
import Testing

/// A listening socket that answers no connection any more: its queue is full and nobody accepts (listen(2)).
final class DeafServer {
    private var sockets: [CInt] = []
    let port: Int

    init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        sockets.append(server)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        try withUnsafeMutablePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                try #require(bind(server, pointer, length) == 0)
                try #require(listen(server, 0) == 0)
                try #require(getsockname(server, pointer, &length) == 0)
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        // A queue of length 0 holds one connection; the others are tries that stay without an answer.
        for _ in 0..<3 {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
            sockets.append(client)
            withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    _ = connect(client, pointer, length)
                }
            }
        }
    }

    func close() {
        for socket in sockets { _ = Glibc.close(socket) }
    }
}
