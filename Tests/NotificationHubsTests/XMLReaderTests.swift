import Foundation
import TestKit
import Testing

@testable import NotificationHubs

/// The XML parser of registrations.
struct XMLReaderTests {
    private func read(_ text: String) throws -> XMLElement { try XMLReader.read(Array(text.utf8)) }

    private func fault(_ text: String) -> XMLReader.Fault? {
        do throws(XMLReader.Fault) {
            _ = try XMLReader.read(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test func elementsAttributesTextAndSectionsAreRead() throws {
        let root = try read(
            "\u{FEFF}<?xml version=\"1.0\"?><!-- a --> <a:entry xmlns:a='u' x=\"1 &amp; 2\">t<b/>&lt;&#x41;&#66;<!-- < --><![CDATA[<&]]></a:entry >\n"
        )
        #expect(root.name == "entry" && root.attributes["x"] == "1 & 2")
        #expect(root.text == "t<AB<&")
        #expect(root.child("b") != nil && root.child("c") == nil)
    }

    @Test func prefixesAndBlanksOfNamesAreLeftOut() throws {
        let root = try read("<a:one\t><b:two c:d = 'e'\n/><three></x:three ></one>")
        #expect(root.name == "one" && root.children.map(\.name) == ["two", "three"])
        #expect(root.child("two")?.attributes == ["d": "e"])
        #expect(fault("<a / >") == .syntax && fault("<a></ab>") == .syntax && fault("<a></") == .syntax)
    }

    @Test func tagsAreSeparatedAtCommas() {
        #expect(Registration.parts(" a ,b,,$UserId:{c}") == ["a", "b", "$UserId:{c}"])
        #expect(Registration.parts("a, 서울\u{3000},,b") == ["a", "서울", "b"])
        #expect(Registration.parts(" , a\t") == ["", "a"] && Registration.parts("").isEmpty)
    }

    @Test(arguments: [
        "", " ", "text", "<a>", "</a>", "<a></b>", "<a/><b/>", "<a/>text", "<a", "<a x>", "<a x=1/>", "<a x='1/>",
        "<a x='1'y='2'/>",
        "<a x='1' x='2'/>", "<a>&amp</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&#;</a>", "<a><![CDATA[</a>",
        "<a><!-- </a>", "<?xml",
        "<a x='<'/>", "< a/>",
    ])
    func malformedDocumentsAreRefused(_ text: String) { #expect(fault(text) == .syntax) }

    /// Entities of a peer are never expanded, so that none can name a file or grow.
    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>", "<a>&x;</a>", "<a><!ENTITY x 'y'></a>",
        "<a x='&lol;'/>",
    ])
    func entitiesOfAPeerAreNotExpanded(_ text: String) { #expect(fault(text) == .forbidden) }

    @Test func everyCountHasALimit() {
        func nested(_ depth: Int) -> String {
            String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
        }
        #expect(fault(nested(16)) == nil && fault(nested(17)) == .tooLarge)
        #expect(fault("<a>" + String(repeating: "<b/>", count: 999) + "</a>") == nil)
        #expect(fault("<a>" + String(repeating: "<b/>", count: 1000) + "</a>") == .tooLarge)
        func attributes(_ count: Int) -> String { "<a " + (0..<count).map { "x\($0)='' " }.joined() + "/>" }
        #expect(fault(attributes(16)) == nil && fault(attributes(17)) == .syntax)
        #expect(fault("<a>" + String(repeating: " ", count: 64 * 1024) + "</a>") == .tooLarge)
    }

    @Test func writtenDocumentsAreReadBack() throws {
        let text = "a]]>b<c>&amp;\"'\u{1}é"
        #expect(try read("<a>\(XMLText.verbatim(text))</a>").text == "a]]>b<c>&amp;\"'é")
        #expect(try read("<a>\(XMLText.escape(text))</a>").text == "a]]>b<c>&amp;\"'é")
        #expect(try read("<a x=\"\(XMLText.attribute(text))\"/>").attributes["x"] == "a]]>b<c>&amp;\"'é")
    }

    @Test func mutatedDocumentsNeverTrap() throws {
        let documents = try ["put.request.txt", "put.response.txt", "list.response.txt"].map {
            Array(try Fixture.message("registrations/\($0)").body.utf8)
        }
        var random = SystemRandomNumberGenerator()
        var (good, bad) = (0, 0)
        for round in 0..<Fuzz.count {
            var bytes = documents[round % documents.count]
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(Array("<>&;\"'![]-?/=".utf8).randomElement(using: &random) ?? 0, at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { bytes = [0] }
            }
            do throws(XMLReader.Fault) {
                _ = try XMLReader.read(bytes)
                good += 1
            } catch {
                bad += 1
            }
        }
        #expect(good > 0 && bad > 0)
    }
}
