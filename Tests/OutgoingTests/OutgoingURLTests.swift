import Outgoing
import Testing

@Suite struct OutgoingURLTests {
    @Test(arguments: [
        ("https://Shop.Example.com/ums/callback", "shop.example.com", "https://shop.example.com/ums/callback"),
        ("http://a.example:8080", "a.example", "http://a.example:8080/"),
        ("https://a.example?x=1#part", "a.example", "https://a.example/?x=1"),
        ("https://[2001:DB8::1]:444/x", "2001:db8::1", "https://[2001:db8::1]:444/x"),
        ("http://127.1/", "127.1", "http://127.1/"),
    ])
    func aURLIsNormalizedWithItsHost(_ text: String, _ host: String, _ url: String) throws {
        let target = try #require(OutgoingURL(text))
        #expect(target.host == host)
        #expect(target.url == url)
    }

    // Parsers disagree about each of these: the guard could check one host and the client connect to another.
    @Test(arguments: [
        "", "https://", "ftp://a.example/", "https:/a.example/", "https://user@a.example/",
        "https://a.example@127.0.0.1/",
        "https://a.example\\@127.0.0.1/", "https://a%2eexample/", "https://a.example:99999/", "https://a.example:/",
        "https://[127.0.0.1]/", "https://[::1%25eth0]/", "https://ａ.example/", "https://a.example\t/",
        "https://a..b,c/",
    ])
    func aURLThatParsersDisagreeAboutIsRefused(_ text: String) { #expect(OutgoingURL(text) == nil) }
}
