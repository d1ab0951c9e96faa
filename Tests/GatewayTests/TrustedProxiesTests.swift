import HTTPTypes
import Model
import TestKit
import Testing

@testable import GatewayHTTP

/// The client's address behind trusted proxies.
struct TrustedProxiesTests {
    private static let proxies = TrustedProxies(["10.0.0.0/8", "fd00::/8"].compactMap { AddressRange($0) })

    private func client(
        _ headers: [(String, String)],
        from peer: String? = "10.0.0.1",
        proxies: TrustedProxies = TrustedProxiesTests.proxies
    ) throws -> ClientAddress {
        var fields = HTTPFields()
        for (name, value) in headers {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return proxies.client(peer: peer, headers: fields)
    }

    private func known(_ text: String) -> ClientAddress { ClientAddress(text: text, isKnown: true) }

    // Read from the right: trusted proxies are skipped; what is left of the client's own address is the client's claim.
    @Test(arguments: [
        ("203.0.113.7", "203.0.113.7"), ("198.51.100.1, 203.0.113.7", "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7, 10.0.0.9", "203.0.113.7"), ("nonsense, 203.0.113.7", "203.0.113.7"),
        ("10.0.0.5, 203.0.113.7 , 10.0.0.9", "203.0.113.7"), ("203.0.113.7:4711", "203.0.113.7"),
        ("2001:db8::7", "2001:db8:0:0:0:0:0:7"), ("[2001:db8::7]:443", "2001:db8:0:0:0:0:0:7"),
        ("[2001:db8::7]", "2001:db8:0:0:0:0:0:7"), ("::ffff:203.0.113.7", "203.0.113.7"),
        ("203.0.113.7, fd00::1", "203.0.113.7"), ("10.0.0.7, 10.0.0.8", "10.0.0.7"),
    ])
    func theFirstUntrustedAddressFromTheRightIsTheClient(_ header: String, _ address: String) throws {
        #expect(try client([("X-Forwarded-For", header)]) == known(address))
    }

    @Test(arguments: [
        ("for=203.0.113.7", "203.0.113.7"), ("For=203.0.113.7;proto=https;by=10.0.0.1", "203.0.113.7"),
        ("for=198.51.100.1, for=203.0.113.7", "203.0.113.7"), (#"for="[2001:db8::7]:4711""#, "2001:db8:0:0:0:0:0:7"),
        (#"for="203.0.113.7:80" , for=10.0.0.9"#, "203.0.113.7"), (#"by="a;b,c";for=203.0.113.7"#, "203.0.113.7"),
        (#"for="203.0.11\3.7""#, "203.0.113.7"), ("for=unknown, for=203.0.113.7", "203.0.113.7"),
    ])
    func theStandardHeaderIsReadInTheSameWay(_ header: String, _ address: String) throws {
        #expect(try client([("Forwarded", header)]) == known(address))
    }

    // The peer's address remains for logs and limits, and does not prove a network.
    @Test(arguments: [
        ("X-Forwarded-For", ""), ("X-Forwarded-For", "nonsense"), ("X-Forwarded-For", "203.0.113.7, unknown"),
        ("X-Forwarded-For", "203.0.113.7,"), ("X-Forwarded-For", "203.0.113.256"), ("X-Forwarded-For", "203.0.113.7:x"),
        ("X-Forwarded-For", "203.0.113.7:123456"), ("X-Forwarded-For", "[203.0.113.7]"),
        ("X-Forwarded-For", "[2001:db8::7"), ("X-Forwarded-For", "[2001:db8::7]x"),
        ("X-Forwarded-For", "203.0.113.7 198.51.100.1"),
        ("X-Forwarded-For", String(repeating: "10.0.0.7,", count: 600)),
        ("Forwarded", ""), ("Forwarded", "203.0.113.7"), ("Forwarded", "for="), ("Forwarded", "proto=https"),
        ("Forwarded", "for=_hidden"), ("Forwarded", "for=unknown"), ("Forwarded", #"for="203.0.113.7"#),
        ("Forwarded", "for=203.0.113.7;for=198.51.100.1"), ("Forwarded", "for=203.0.113.7 for=198.51.100.1"),
        // A quotation mark of the client must not hide what the proxy appended.
        ("Forwarded", #"for=10.0.0.5;x=", for=203.0.113.7"#),
        ("Forwarded", #"for=10.0.0.5, for=", for="[2001:db8::7]""#),
    ])
    func aMalformedHeaderLeavesThePeer(_ name: String, _ header: String) throws {
        #expect(try client([(name, header)]) == ClientAddress(text: "10.0.0.1", isKnown: false))
    }

    @Test func severalLinesAreOneList() throws {
        let lines = [
            ("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-For", "10.0.0.9"),
        ]
        #expect(try client(lines) == known("203.0.113.7"))
    }

    // A proxy writes one of the two headers; the other one may be the client's own.
    @Test func contradictoryHeadersLeaveThePeer() throws {
        let forged = [("X-Forwarded-For", "203.0.113.7"), ("Forwarded", "for=192.0.2.1")]
        #expect(try client(forged) == ClientAddress(text: "10.0.0.1", isKnown: false))
        #expect(
            try client([("X-Forwarded-For", "203.0.113.7"), ("Forwarded", "for=203.0.113.7")]) == known("203.0.113.7")
        )
    }

    @Test func anUntrustedPeerIsTheClientWhateverItsHeadersSay() throws {
        let forged = [("X-Forwarded-For", "10.1.1.1"), ("Forwarded", "for=10.1.1.1")]
        #expect(try client(forged, from: "203.0.113.9") == known("203.0.113.9"))
        #expect(try client(forged, from: "10.0.0.1", proxies: TrustedProxies()) == known("10.0.0.1"))
        #expect(try client(forged, from: "::ffff:203.0.113.9") == known("203.0.113.9"))
        #expect(try client([("X-Forwarded-For", "203.0.113.7")], from: "::ffff:10.0.0.1") == known("203.0.113.7"))
        #expect(try client(forged, from: nil) == ClientAddress(text: nil, isKnown: false))
    }

    // A proxy that names no client is not the client.
    @Test func aTrustedPeerWithoutAHeaderProvesNothing() throws {
        #expect(try client([]) == ClientAddress(text: "10.0.0.1", isKnown: false))
    }

    @Test func noBytesTrapTheParsersOrHideTheProxysAddress() {
        var random = SplitMix(state: Fuzz.seed)
        let alphabet = Array("0123456789abcdef:.[]\",;= \\for=FOR=by=\t\u{7F}\u{e9}".utf8) + [0, 0xFF, 0xC0]
        for index in 0..<Fuzz.count {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                index.isMultiple(of: 2)
                    ? alphabet.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = ForwardedHeader.addresses(plain: text)
            _ = ForwardedHeader.addresses(standard: text)
            // Whatever the client wrote, the address that the proxy appended is the last one, or nothing is known.
            let client = IPAddress("203.0.113.7")
            #expect(
                ForwardedHeader.addresses(plain: text + ", 203.0.113.7").last == client,
                "seed \(Fuzz.seed): \(text)"
            )
            for appended in ["for=203.0.113.7", #"for="203.0.113.7";host="a, for=10.0.0.1""#] {
                let last = ForwardedHeader.addresses(standard: text + ", " + appended).last
                #expect(last == nil || last == client, "seed \(Fuzz.seed): \(text)")
            }
        }
    }
}
