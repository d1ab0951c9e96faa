import Model
import Outgoing
import Testing

@Suite struct AddressGuardTests {
    // RFC 6890 and the IANA special-purpose address registries.
    @Test(arguments: [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1",
        "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::",
        "3fff::1", "5f00::1",
    ])
    func addressesOutsideThePublicInternetAreRefused(_ text: String) throws {
        #expect(!AddressGuard().permits(try #require(IPAddress(text))))
    }

    @Test(arguments: [
        "8.8.8.8", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
        "223.255.255.255",
        "2606:4700:4700::1111", "2a00:1450:4001::200e",
    ])
    func publicAddressesArePermitted(_ text: String) throws {
        #expect(AddressGuard().permits(try #require(IPAddress(text))))
    }

    @Test func onlyTheAllowedRangeIsPermittedInAddition() throws {
        let range = try #require(AddressRange("10.2.0.0/15"))
        let guardian = AddressGuard(allowing: [range])
        for (text, isPermitted) in [
            ("10.1.255.255", false), ("10.2.0.0", true), ("10.3.255.255", true), ("10.4.0.0", false),
        ] {
            #expect(guardian.permits(try #require(IPAddress(text))) == isPermitted, "\(text)")
        }
        // The same address in its IPv6 form is not allowed.
        #expect(!guardian.permits(try #require(IPAddress("::ffff:10.2.0.1"))))
    }

    @Test(arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "::/129", "10.0.0/8", "localhost/8", "10.0.0.0/"])
    func invalidRangesAreRefused(_ text: String) { #expect(AddressRange(text) == nil) }

    // The guard must not read a text differently from a resolver: octal, short and hexadecimal forms are not
    // addresses.
    @Test(arguments: [
        "", "1", "127.1", "0177.0.0.1", "01.2.3.4", "0x7f.0.0.1", "2130706433", "1.2.3.4.", "1.2.3.256", "1.2.3.+4",
        " 1.2.3.4",
        ":", ":::", "1::2::3", "::1%eth0", "[::1]", "12345::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1.2.3",
        "1:2:3:4:5:6:7::8", "::g", "1.2.3.4::", "::1:",
        "::ffff:1.2.3.4%1", ":\u{301}:1", "1:\u{301}2::", "1\u{301}.2.3.4", "\u{FF11}.2.3.4", "::\u{FF11}",
    ])
    func onlyStrictAddressesAreParsed(_ text: String) { #expect(IPAddress(text) == nil) }

    @Test func addressTextIsParsedIntoItsBytes() {
        #expect(IPAddress("1.2.3.255")?.bytes == [1, 2, 3, 255])
        #expect(IPAddress("1.20.0.255")?.description == "1.20.0.255")
        #expect(IPAddress("::FFFF:1.2.3.4")?.unmapped.description == "1.2.3.4")
        #expect(IPAddress("::fffe:1.2.3.4")?.unmapped.isV4 == false)
        #expect(IPAddress("::")?.bytes == Array(repeating: 0, count: 16))
        #expect(IPAddress("2001:db8::a:1.2.3.4")?.bytes == [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 10, 1, 2, 3, 4])
        #expect(IPAddress("1:2:3:4:5:6:7::")?.bytes == [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0])
        #expect(IPAddress(IPAddress("FE80::1")?.description ?? "") == IPAddress("fe80:0:0::1"))
    }
}
