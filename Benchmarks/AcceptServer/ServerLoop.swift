import CLinuxEvents
import Glibc

/// The only thread: it accepts connections, waits for events and serves them.
@safe
final class ServerLoop {
    /// 256 connections; the load tests open four. Above the limit, new connections are closed at once.
    private static let maxConnections = 256
    private static let maxEvents = 64

    private let options: ServerOptions
    private let tls: ServerTLS
    private let listener: Int32
    private let poll: Int32
    private let stop: Int32
    private let events: UnsafeMutablePointer<epoll_event>
    private var connections: [Int32: ServerConnection] = [:]
    private var departed = ServerCounts()
    /// The port on which it listens.
    let port: UInt16

    /// Listens on 127.0.0.1.
    ///
    /// - Parameters:
    ///   - options: port, streams, latency.
    ///   - tls: the certificate.
    ///   - stop: an eventfd whose first event ends `run`.
    /// - Throws: `failed`.
    init(_ options: ServerOptions, _ tls: ServerTLS, stop: Int32) throws(ServerError) {
        self.options = options
        self.tls = tls
        self.stop = stop
        listener = socket(AF_INET, gateway_SOCK_STREAM | gateway_SOCK_FLAGS, 0)
        guard listener >= 0 else { throw .system("socket") }
        var one: Int32 = 1
        _ = unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        port = try ServerLoop.bind(listener, options.port)
        poll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poll >= 0 else { throw .system("epoll_create1") }
        unsafe events = .allocate(capacity: ServerLoop.maxEvents)
        try watch(listener, EPOLL_CTL_ADD, EPOLLIN.rawValue)
        try watch(stop, EPOLL_CTL_ADD, EPOLLIN.rawValue)
    }

    deinit {
        unsafe events.deallocate()
        close(poll)
        close(listener)
    }

    /// The counts of all connections.
    var counts: ServerCounts { connections.values.reduce(into: departed) { $0 += $1.counts } }

    /// Serves until it is stopped.
    ///
    /// - Throws: `failed`.
    func run() throws(ServerError) {
        while true {
            let count = try wait()
            let now = ServerLoop.now()
            for index in 0..<count {
                let descriptor = unsafe events[index].data.fd
                if descriptor == stop { return }
                if descriptor == listener { try acceptAll() } else { serve(descriptor, at: now, hasSocket: true) }
            }
            // Serve the connections that have unread input: their sockets may be empty, so epoll does not report them.
            for (descriptor, connection) in connections where connection.hasUnread && !connection.waitsForRoom {
                serve(descriptor, at: now, hasSocket: true)
            }
            guard options.latency > 0 else { continue }
            for (descriptor, connection) in connections {
                if let due = connection.due.next, due <= now { serve(descriptor, at: now, hasSocket: false) }
            }
        }
    }

    // MARK: Private

    private func wait() throws(ServerError) -> Int {
        let due = connections.values.lazy.compactMap(\.due.next).min()
        let hasUnread = connections.values.contains { $0.hasUnread && !$0.waitsForRoom }
        var count: Int32
        if hasUnread {
            count = unsafe epoll_wait(poll, events, Int32(ServerLoop.maxEvents), 0)
        } else if let due {
            let now = ServerLoop.now()
            let left = due > now ? due - now : 0
            // Wait in nanoseconds: the milliseconds of epoll_wait would add 2 % to a latency of 50 ms.
            var time = timespec(tv_sec: Int(left / 1_000_000_000), tv_nsec: Int(left % 1_000_000_000))
            count = unsafe epoll_pwait2(poll, events, Int32(ServerLoop.maxEvents), &time, nil)
        } else {
            count = unsafe epoll_wait(poll, events, Int32(ServerLoop.maxEvents), -1)
        }
        if count < 0, errno == EINTR { count = 0 }
        guard count >= 0 else { throw .system("epoll_wait") }
        return Int(count)
    }

    private func acceptAll() throws(ServerError) {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            guard connections.count < ServerLoop.maxConnections, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
                close(descriptor)
                continue
            }
            var one: Int32 = 1
            _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
            do throws(ServerError) {
                connections[descriptor] = try ServerConnection(descriptor: descriptor, tls: tls, settings: options)
            } catch {
                close(descriptor)
                throw error
            }
            departed.connections += 1
            try watch(descriptor, EPOLL_CTL_ADD, EPOLLIN.rawValue)
        }
    }

    private func serve(_ descriptor: Int32, at now: UInt64, hasSocket: Bool) {
        guard let connection = connections[descriptor] else { return }
        let waited = connection.waitsForRoom
        do throws(ServerError) {
            if hasSocket { try connection.serve(at: now) } else { try connection.serveDue(at: now) }
            if connection.waitsForRoom != waited {
                let room = connection.waitsForRoom ? EPOLLOUT.rawValue : 0
                try watch(descriptor, EPOLL_CTL_MOD, EPOLLIN.rawValue | room)
            }
        } catch {
            departed += connection.counts
            if !error.description.isEmpty { departed.errors += 1 }
            connections[descriptor] = nil
        }
    }

    private func watch(_ descriptor: Int32, _ operation: Int32, _ mask: UInt32) throws(ServerError) {
        var event = unsafe epoll_event()
        unsafe event.events = mask
        unsafe event.data.fd = descriptor
        guard unsafe epoll_ctl(poll, operation, descriptor, &event) == 0 else { throw .system("epoll_ctl") }
    }

    /// Binds, listens, and returns the port.
    private static func bind(_ listener: Int32, _ port: UInt16) throws(ServerError) -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                guard unsafe Glibc.bind(listener, name, size) == 0, listen(listener, 128) == 0 else { return Int32(-1) }
                return unsafe getsockname(listener, name, &size)
            }
        }
        guard result == 0 else { throw .system("bind") }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func now() -> UInt64 {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension ServerCounts {
    static func += (left: inout ServerCounts, right: ServerCounts) {
        left.connections += right.connections
        left.requests += right.requests
        left.answers += right.answers
        left.refused += right.refused
        left.resets += right.resets
        left.errors += right.errors
    }
}
