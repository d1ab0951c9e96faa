import Model
import Testing

/// Spellings of an IPv4 address that resolvers accept (inet_aton; WHATWG URL, "IPv4 parser").
struct CallbackHostTests {
    @Test(arguments: [
        "127.1", "127.0.1", "2130706433", "0x7f.1", "0x7f000001", "0X7F.0.0.1", "0177.0.0.1", "017700000001",
        "127.0.0.1.",
        "127.0.0.01", "256.0.0.1", "1.2.3.4.5", "0", "0x", "a.0x7f", "example.1", "10.0.0.0x1", "1", "1.",
    ]) func anObscureAddressIsFound(_ host: String) {
        #expect(CallbackHost.isObscureAddress(host))
    }

    @Test(arguments: [
        "127.0.0.1", "8.8.8.8", "255.255.255.255", "0.0.0.0", "example.com", "example.com.", "1.example",
        "0x7f.example",
        "a", "x1", "1a", "::1", "2001:db8::1", "", ".", "0xg",
    ]) func aPlainHostIsNot(_ host: String) {
        #expect(!CallbackHost.isObscureAddress(host))
    }
}
