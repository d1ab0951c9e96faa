package import Model

/// The header with which a proxy begins a connection: the PROXY protocol, version 2 (binary). Pure; never traps on any input.
///
/// Source: "The PROXY protocol", HAProxy Technologies, §2.2.
package struct ProxyHeader: Sendable, Hashable {
    /// 2 KiB: addresses and extensions. Proxies write less than 600 bytes; a longer header counts as malformed.
    package static let limitBytes = 2 << 10

    /// The result of reading the bytes received so far.
    package enum Reading: Sendable, Hashable {
        case incomplete
        case malformed
        case complete(ProxyHeader)
    }

    /// Nil: the proxy did not name its client. It speaks for itself, as in a check of its own, or the client has no IP address.
    package var client: IPAddress?
    /// The number of bytes of the header. The connection's own bytes follow.
    package var count: Int

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    /// Signature, version with command, family with transport, and two bytes for the length of the rest.
    private static let fixedBytes = 16

    package static func read(_ bytes: [UInt8]) -> Reading {
        let begun = min(bytes.count, signature.count)
        guard bytes.prefix(begun).elementsEqual(signature.prefix(begun)) else { return .malformed }
        guard bytes.count >= fixedBytes else { return .incomplete }
        let count = fixedBytes + Int(bytes[14]) << 8 + Int(bytes[15])
        guard count <= limitBytes else { return .malformed }
        switch bytes[12] {
        // LOCAL: the addresses are to be ignored.
        case 0x20: return bytes.count < count ? .incomplete : .complete(ProxyHeader(client: nil, count: count))
        case 0x21: break
        default: return .malformed
        }
        let addressBytes: Int
        switch bytes[13] >> 4 {
        case 0x1: addressBytes = 4
        case 0x2: addressBytes = 16
        // Without an address, or a local socket.
        case 0x0, 0x3: return bytes.count < count ? .incomplete : .complete(ProxyHeader(client: nil, count: count))
        default: return .malformed
        }
        // Two addresses and two ports.
        guard count - fixedBytes >= 2 * addressBytes + 4 else { return .malformed }
        guard bytes.count >= count else { return .incomplete }
        let client = IPAddress(networkOrder: bytes[fixedBytes..<fixedBytes + addressBytes])?.unmapped
        return .complete(ProxyHeader(client: client, count: count))
    }
}
