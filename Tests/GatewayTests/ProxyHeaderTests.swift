import Model
import Testing

@testable import GatewayHTTP

/// The header of the PROXY protocol. The bytes are written by hand, from §2.2 of the specification.
struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    /// 203.0.113.7:4711 to 10.0.0.1:443 by TCP.
    private static let v4 = signature + [0x21, 0x11, 0, 12, 203, 0, 113, 7, 10, 0, 0, 1, 0x12, 0x67, 1, 0xBB]
    /// 2001:db8::7 to 2001:db8::1 by TCP, with an extension of five bytes.
    private static let v6: [UInt8] =
        signature + [0x21, 0x21, 0, 41] + [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]
        + [0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x12, 0x67, 1, 0xBB] + [4, 0, 2, 1, 1]
    private static let local = signature + [0x20, 0, 0, 0]

    private func header(_ client: String?, _ count: Int) -> ProxyHeader.Reading {
        .complete(ProxyHeader(client: client.flatMap { IPAddress($0) }, count: count))
    }

    @Test func theClientIsTheSourceAddress() {
        #expect(ProxyHeader.read(Self.v4) == header("203.0.113.7", 28))
        #expect(ProxyHeader.read(Self.v4 + Array("GET /".utf8)) == header("203.0.113.7", 28))
        #expect(ProxyHeader.read(Self.v6) == header("2001:db8::7", 57))
        var mapped = Self.v6
        mapped.replaceSubrange(16..<32, with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 203, 0, 113, 7])
        #expect(ProxyHeader.read(mapped) == header("203.0.113.7", 57))
    }

    @Test func aProxyThatSpeaksForItselfNamesNoClient() {
        #expect(ProxyHeader.read(Self.local) == header(nil, 16))
        // LOCAL with addresses, and a client without an IP address.
        for (command, family) in [(0x20, 0x11), (0x21, 0x00), (0x21, 0x31)] as [(UInt8, UInt8)] {
            var bytes = Self.v4
            (bytes[12], bytes[13]) = (command, family)
            #expect(ProxyHeader.read(bytes) == header(nil, 28), "\(command) \(family)")
        }
    }

    @Test(arguments: [v4, v6, local]) func everyBeginningIsIncomplete(_ bytes: [UInt8]) {
        for count in 0..<bytes.count {
            #expect(ProxyHeader.read(Array(bytes.prefix(count))) == .incomplete, "\(count)")
        }
    }

    @Test func anythingElseIsMalformed() {
        var wrong: [[UInt8]] = [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), Array("PROXY TCP4 203.0.113.7 10.0.0.1 4711 443\r\n".utf8),
            Array(Self.signature.dropFirst()) + [0x21, 0x11, 0, 12],
        ]
        for (place, byte) in [(12, 0x11), (12, 0x22), (13, 0x41), (14, 0xFF), (15, 11)] as [(Int, UInt8)] {
            var bytes = Self.v4
            bytes[place] = byte
            wrong.append(bytes)
        }
        for bytes in wrong { #expect(ProxyHeader.read(bytes) == .malformed, "\(bytes)") }
    }

    @Test func noBytesTrap() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            var bytes = [Self.v4, Self.v6, Self.local].randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 0...3) {
                bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: .min ... .max)
            }
            if case .complete(let header) = ProxyHeader.read(bytes) { #expect(header.count <= bytes.count) }
        }
    }
}
