import Testing

@testable import HTTP2

/// Source: OpenSSL 3.0, OPENSSL_VERSION_NUMBER(3).
@Suite struct LinkedLibrariesTests {
    @Test(arguments: [(UInt64(0x3000_0110), "3.0.17"), (0x3050_0000, "3.5.0"), (0x3000_00F0, "3.0.15")])
    func numbersOfOpenSSLAreRead(_ number: UInt64, _ text: String) {
        #expect(LinkedLibraries.text(ofOpenSSL: number) == text)
    }

    @Test func theLoadedLibrariesHaveVersions() {
        #expect(LinkedLibraries.openSSL.wholeMatch(of: /3\.[0-9]+\.[0-9]+/) != nil)
        #expect(LinkedLibraries.nghttp2.wholeMatch(of: /1\.[0-9]+\.[0-9]+/) != nil)
    }
}
