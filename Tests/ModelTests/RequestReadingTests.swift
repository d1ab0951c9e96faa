import HTTPTypes
import Model
import Testing

/// An adapter reads a request once, also if that fails: a refused body is not parsed again for its answer.
struct RequestReadingTests {
    @Test func aRequestIsReadOnceUntilItChanges() throws {
        var request = VendorRequest(route: "r", path: "/", body: Array(#"{"a":1}"#.utf8))
        var count = 0
        for _ in 0..<2 {
            let object = try request.once { (request) throws(AdapterError) -> JSONObject in
                count += 1
                return try request.bodyObject()
            }
            #expect(object == ["a": 1])
        }
        #expect(count == 1)
        request.body = Array("[1".utf8)
        for _ in 0..<2 {
            #expect(throws: AdapterError(.unreadable)) {
                try request.once { (request) throws(AdapterError) -> JSONObject in
                    count += 1
                    return try request.bodyObject()
                }
            }
        }
        #expect(count == 2)
    }
}

/// The host of a call in the form in which bindings have it.
struct RequestHostTests {
    private func host(_ lines: [String]) throws -> String? {
        let name = try #require(HTTPField.Name("Host"))
        var headers = HTTPFields()
        headers[values: name] = lines
        return VendorRequest(route: "r", path: "/", headers: headers).host
    }

    @Test func itIsLowerCaseAndHasNoPort() throws {
        #expect(try host(["Push.Example.com:8443"]) == "push.example.com")
        #expect(try host(["[2001:DB8::1]:8443"]) == "[2001:db8::1]")
        #expect(try host([""]) == nil)
        #expect(try host([]) == nil)
    }

    @Test func severalLinesAreNotTheHostOfOneOfThem() throws {
        #expect(try host(["A.example.com", "b.example.com"]) == nil)
        #expect(try host(["a.example.com:443", "b.example.com"]) == nil)
    }
}
