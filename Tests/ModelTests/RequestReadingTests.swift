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
