import Testing

@testable import Model

/// The fields of a body of which only the beginning has arrived.
@Suite struct BodyBeginningTests {
    private func completed(_ text: String) -> String? {
        BodyBeginning.completed(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        (#"{"a":"1","b":"tw"#, #"{"a":"1"}"#), (#"{"a":"1","#, #"{"a":"1"}"#), (#"{"a":"1""#, nil), ("{", nil),
        (#" {"a":{"x":[1,2],"y":3},"b":[1,2"#, #" {"a":{"x":[1,2],"y":3}}"#), (#"{"a":[1,{"b":2},"#, nil),
        (#"{"a":"x,\"},","b":"\\"#, #"{"a":"x,\"},"}"#), (#"{"a":"\\","b":1"#, #"{"a":"\\"}"#),
    ]) func anObjectKeepsItsWholeMembers(text: String, expected: String?) {
        #expect(completed(text) == expected)
    }

    @Test(arguments: [("a=1&b=tw", "a=1"), ("a=1&", "a=1"), ("a=1", nil), ("", nil), ("a=%7B&b=2&c=", "a=%7B&b=2")])
    func aFormKeepsItsWholePairs(text: String, expected: String?) {
        #expect(completed(text) == expected)
    }

    // Every beginning of an object is an object with the first of its members.
    @Test func eachBeginningCanBeRead() throws {
        let text = #"{"a":"ü,\u0022","b":{"c":[1,"]",{"d":"}"}]},"e":null,"f":-1.5e3,"g":"end"}"#
        let whole = try #require(try JSONParser.parse(Array(text.utf8)).object)
        for count in 0..<text.utf8.count {
            guard let bytes = BodyBeginning.completed(Array(text.utf8.prefix(count))) else { continue }
            let part = try #require(try JSONParser.parse(bytes).object, "after \(count) bytes")
            #expect(part.pairs.allSatisfy { whole[$0.key] == $0.value }, "after \(count) bytes")
        }
    }
}
