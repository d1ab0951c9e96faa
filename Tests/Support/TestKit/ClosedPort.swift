import Glibc

/// A port of 127.0.0.1 on which nobody listens: the kernel refuses connections to it, and gives it to nobody else until `release`.
///
/// A port that a server has just given up may be another test's a moment later.
package struct ClosedPort: Sendable {
    /// The kernel gave no port.
    package struct Failed: Error {}

    package let number: Int
    private let descriptor: Int32

    package init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Bound, and not listening.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            throw Failed()
        }
        self.descriptor = descriptor
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    /// Gives the port up. Whoever needs the refusals calls it at the end.
    package func release() { close(descriptor) }
}
