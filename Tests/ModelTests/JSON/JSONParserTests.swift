import Model
import Testing

/// RFC 8259, and the additional limits of the parser.
struct JSONParserTests {
    // H2: a list of digits costs a hundred times its bytes.
    @Test func tooManyValuesAreRefused() throws {
        func list(_ count: Int) -> [UInt8] {
            Array("[".utf8) + [UInt8](repeating: 0x31, count: 1)
                + Array(repeatElement([0x2C, 0x31], count: count - 1).joined()) + Array("]".utf8)
        }
        // The list itself is a value.
        #expect(try JSONParser.parse(list(JSONParser.valueLimit - 1)).array?.count == JSONParser.valueLimit - 1)
        do throws(JSONError) {
            _ = try JSONParser.parse(list(JSONParser.valueLimit))
            Issue.record("a list above the limit is read")
        } catch { #expect(error.hasTooManyValues) }
    }

    @Test(arguments: ["", "[1,2", "{", #""\"#])
    func otherFaultsAreNotTheNumberOfValues(_ text: String) {
        do throws(JSONError) {
            _ = try JSONParser.parse(text)
            Issue.record("\(text) is read")
        } catch { #expect(!error.hasTooManyValues) }
    }

    @Test func everyKindOfValueIsRead() throws {
        let text = #" {"a":[1,-0.5,1e9,true,false,null],"b":"\u00e9\ud83d\ude00\n\"\/","c":{}} "#
        let expected: JSON = [
            "a": [1, .number("-0.5"), .number("1e9"), true, false, .null], "b": "é😀\n\"/", "c": [:],
        ]
        #expect(try JSONParser.parse(text) == expected)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "01", "1.", "1e", "+1", ".5", "tru", "nul", "\"",
        "\"\\x\"",
        "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\u{1}\"", "1 2", "[1", "// c\n1", "'a'", "NaN",
    ])
    func otherTextIsRefusedWithItsPosition(text: String) {
        #expect(throws: JSONError.self) { try JSONParser.parse(text) }
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        #expect(throws: JSONError.self) { try JSONParser.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError.self) { try JSONParser.parse([0x22, 0xC0, 0x80, 0x22]) }
    }

    /// Every lead byte, with the bytes at the limits of what may follow it, against the other check of the standard library.
    @Test func exactlyTheStringsOfUTF8AreRead() throws {
        let tails: [[UInt8]] = [[], [0x7F], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0xBF], [0x80, 0xC0]]
        var wrong: [[UInt8]] = []
        // Checks may read several bytes of ASCII at once.
        for count in [0, 7, 16] {
            for lead in UInt8(0x80)...0xFF {
                for next in [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0] as [UInt8] {
                    for tail in tails {
                        let text = [UInt8](repeating: 0x61, count: count) + [lead, next] + tail
                        let expected = String(validating: text, as: UTF8.self)
                        let rest: [UInt8] = text + [0x22]
                        let read = (try? JSONParser.parse([0x22] + rest))?.string
                        // An escape takes the other path through the parser.
                        let escaped = (try? JSONParser.parse([0x22, 0x5C, 0x6E] + rest))?.string
                        if read != expected || escaped != expected.map({ "\n" + $0 }) { wrong.append(text) }
                    }
                }
            }
        }
        #expect(wrong == [])
        #expect(try JSONParser.parse(#"{"":""}"#) == ["": ""])
    }

    /// 64 levels are read; one more could exhaust the stack.
    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSONParser.parse(nested(JSONParser.maximumDepth))
        #expect(throws: JSONError.self) { try JSONParser.parse(nested(JSONParser.maximumDepth + 1)) }
        #expect(throws: JSONError.self) { try JSONParser.parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        #expect(try JSONParser.parse([0xEF, 0xBB, 0xBF, 0x31]) == 1)
    }

    @Test func aRepeatedKeyKeepsItsPositionAndItsLastValue() throws {
        let object = try #require(try JSONParser.parse(#"{"a":1,"b":2,"a":3}"#).object)
        #expect(object.keys == ["a", "b"])
        #expect(object["a"] == 3)
    }

    /// No input traps: every prefix and many single-byte changes of a real body.
    @Test func truncatedAndChangedBytesNeverTrap() {
        let body = Array(#"{"aps":{"alert":{"title":"공지","body":"\u0041b"}},"n":[-1.5e3,true,null]}"#.utf8)
        for end in body.indices { _ = try? JSONParser.parse(Array(body[..<end])) }
        for index in body.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = body
                changed[index] = byte
                _ = try? JSONParser.parse(changed)
            }
        }
    }
}

/// Written text is read back, and takes the minimum number of bytes.
struct JSONWriterTests {
    @Test func onlyRequiredCharactersAreEscaped() {
        #expect(
            JSONWriter.text(["url": "https://a/é", "t": "a\"b\\c\n\r\t\u{1}"])
                == #"{"url":"https://a/é","t":"a\"b\\c\n\r\t\u0001"}"#
        )
    }

    @Test func keysKeepTheirOrderAndNumbersTheirSpelling() throws {
        let text = #"{"z":1.50,"a":-0,"m":1E5,"list":[],"o":{}}"#
        #expect(JSONWriter.text(try JSONParser.parse(text)) == text)
    }

    @Test func removingAKeyRemovesItsPosition() {
        var object = JSONObject([("a", 1), ("b", 2)])
        object["a"] = nil
        object["a"] = 3
        #expect(JSONWriter.text(.object(object)) == #"{"b":2,"a":3}"#)
    }

    @Test func objectsAreEqualInAnyOrder() {
        #expect(JSON.pairs(["a": 1, "b": 2]) == .pairs(["b": 2, "a": 1]))
        #expect(JSON.pairs(["a": 1]) != .pairs(["a": "1"]))
    }
}
