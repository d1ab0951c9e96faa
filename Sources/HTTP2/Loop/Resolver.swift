internal import CLinuxEvents
internal import Glibc
internal import NIOConcurrencyHelpers

/// One address of a host, in the kernel's format.
struct SocketAddress: Sendable, Hashable {
    /// A `sockaddr_in` or `sockaddr_in6`.
    let bytes: [UInt8]
    let family: Int32
}

/// Resolves names by `getaddrinfo`. Each look-up has its own thread, because the call blocks for as long as the resolver does not answer.
///
/// Nothing is cached: Apple requires uncached look-ups before each connection (docs/contracts/apns.md#11.4).
enum Resolver {
    private static let running = NIOLockedValueBox(0)

    /// Resolves a host and calls back once, on a thread that must not block for long.
    static func resolve(
        host: String,
        port: Int,
        then report: @escaping @Sendable (Result<[SocketAddress], HTTP2Error>) -> Void
    ) {
        let isAllowed = running.withLockedValue { count in
            guard count < HTTP2Limits.maxConcurrentLookups else { return false }
            count += 1
            return true
        }
        guard isAllowed else {
            return report(.failure(HTTP2Error(.resolveFailed, isUnsent: true, underlying: "too many look-ups at once")))
        }
        do {
            try SystemThread(name: "resolver") {
                let result = lookUp(host: host, port: port)
                running.withLockedValue { $0 -= 1 }
                report(result)
            }.detach()
        } catch {
            running.withLockedValue { $0 -= 1 }
            report(.failure(error))
        }
    }

    private static func lookUp(host: String, port: Int) -> Result<[SocketAddress], HTTP2Error> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = gateway_SOCK_STREAM
        unsafe hints.ai_flags = AI_NUMERICSERV
        var first: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(host, String(port), &hints, &first)
        guard code == 0 else {
            let words = unsafe String(cString: gai_strerror(code))
            return .failure(HTTP2Error(.resolveFailed, isUnsent: true, underlying: words))
        }
        defer { unsafe freeaddrinfo(first) }
        var found: [SocketAddress] = []
        var next = unsafe first
        while let entry = unsafe next, found.count < HTTP2Limits.maxAddresses {
            let address = unsafe entry.pointee
            let bytes = unsafe UnsafeRawBufferPointer(start: address.ai_addr, count: Int(address.ai_addrlen))
            unsafe found.append(SocketAddress(bytes: Array(bytes), family: address.ai_family))
            unsafe next = address.ai_next
        }
        return .success(found)
    }
}
