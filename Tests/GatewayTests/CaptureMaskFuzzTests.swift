import Foundation
import Model
import TestKit
import Testing

@testable import Gateway

/// Secrets at every position of every documented request, and undocumented bodies.
struct CaptureMaskFuzzTests {
    private static let seed =
        ProcessInfo.processInfo.environment["GATEWAY_FUZZ_SEED"].flatMap(UInt64.init)
        ?? UInt64.random(in: .min ... .max)
    private static let count =
        ProcessInfo.processInfo.environment["GATEWAY_FUZZ_COUNT"].flatMap(Int.init) ?? 10_000

    private static let secrets = [
        "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad", "QxT3mLpR8vZk2WnYd7Jc0g",
        "fVQ3x0aBTR6kk7:APA91bHun4MxP5egoKMwt2KZFBaFUH", "correct horse battery", "01098765432", "+82-10-9876-5432",
        "hong.gildong@example.com", "홍길동님", "pgw_5d41402abc4b2a76b9719d911017c592",
    ]

    private struct Body {
        var file: String
        var json: JSON?
        var form: [(String, String)] = []
    }

    /// Every request of every vendor's fixtures, as JSON or as a form.
    private static func documented() throws -> [Body] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        var bodies: [Body] = []
        for vendor in ["IPNSTests", "RationalOwlTests", "UPMCTests"] {
            let folder = tests.appending(path: "\(vendor)/Fixtures").path
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() {
                guard file.hasSuffix(".json") || file.hasSuffix(".txt"), file != "fixtures.json" else { continue }
                let text = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
                let name = "\(vendor)/\(file)"
                let lines = text.split(separator: "\n").filter { !$0.hasPrefix("POST ") && !$0.hasPrefix("GET ") }
                let found = lines.compactMap { try? JSONParser.parse(String($0.drop { $0 == "→" || $0 == " " })) }
                if let json = try? JSONParser.parse(lines.joined(separator: "\n")) {
                    bodies.append(Body(file: name, json: json))
                } else if !found.isEmpty {
                    bodies += found.map { Body(file: name, json: $0) }
                } else {
                    let form = lines.joined().split(separator: "&").map { field -> (String, String) in
                        let pair = field.split(separator: "=", maxSplits: 1).map(String.init)
                        return (pair.first ?? "", pair.count > 1 ? pair[1] : "")
                    }
                    bodies.append(Body(file: name, form: form))
                }
            }
        }
        return bodies
    }

    private static func leaves(_ json: JSON) -> Int {
        switch json {
        case .string, .number: 1
        case .null, .bool: 0
        case .array(let elements): elements.reduce(0) { $0 + leaves($1) }
        case .object(let object): object.pairs.reduce(0) { $0 + leaves($1.value) }
        }
    }

    /// The same document with `secret` in place of the leaf with that number.
    private static func planted(_ json: JSON, _ secret: String, _ left: inout Int) -> JSON {
        switch json {
        case .string, .number:
            left -= 1
            return left == -1 ? .string(secret) : json
        case .null, .bool: return json
        case .array(let elements): return .array(elements.map { planted($0, secret, &left) })
        case .object(let object):
            return .object(JSONObject(object.pairs.map { ($0.key, planted($0.value, secret, &left)) }))
        }
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    @Test func noSecretSurvivesAtAnyDocumentedPosition() throws {
        let mask = CaptureMask(keepsTexts: false)
        let bodies = try Self.documented()
        var positions = 0
        func check(_ bytes: [UInt8], _ type: String, _ secret: String, _ file: String) {
            positions += 1
            let masked = mask.body(bytes, contentType: type, limit: 64 << 10)
            #expect(!masked.contains(secret), "\(file): \(masked)")
        }
        for body in bodies {
            for secret in Self.secrets {
                if let json = body.json {
                    for index in 0..<Self.leaves(json) {
                        var left = index
                        let planted = Self.planted(json, secret, &left)
                        check(JSONWriter.bytes(planted), "application/json", secret, body.file)
                        let nested: JSON = ["data": .string(JSONWriter.text(planted))]
                        check(JSONWriter.bytes(nested), "application/json", secret, body.file)
                        let form = "data=" + Self.encoded(JSONWriter.text(planted))
                        check(Array(form.utf8), "application/x-www-form-urlencoded", secret, body.file)
                    }
                }
                for index in body.form.indices {
                    var fields = body.form
                    fields[index].1 = secret
                    let form = fields.map { $0.0 + "=" + Self.encoded($0.1) }.joined(separator: "&")
                    check(Array(form.utf8), "application/x-www-form-urlencoded", secret, body.file)
                    #expect(mask.query(form)?.contains(secret) == false)
                    let parts = fields.map {
                        "--XyZ\r\nContent-Disposition: form-data; name=\"\($0.0)\"\r\n\r\n\($0.1)\r\n"
                    }
                    check(
                        Array((parts.joined() + "--XyZ--").utf8),
                        "multipart/form-data; boundary=XyZ",
                        secret,
                        body.file
                    )
                    let tags = fields.map { "<f k='\($0.0)'>\($0.1)</f>" }.joined()
                    check(Array("<r>\(tags)</r>".utf8), "application/xml", secret, body.file)
                }
            }
        }
        #expect(bodies.count > 40)
        #expect(positions > 5000)
    }

    /// I5: no input of a caller traps; the output is within its limit, and contains no token of the input.
    @Test func noBodyTrapsOrGrows() throws {
        print("CaptureMaskFuzzTests: seed \(Self.seed)")
        let documents = try Self.documented().compactMap(\.json)
        var mutator = Mutator(seed: Self.seed, known: Self.secrets)
        var random = SplitMix(state: Self.seed)
        let types = [
            nil, "application/json", "application/x-www-form-urlencoded", "text/xml",
            "multipart/form-data; boundary=XyZ",
            "multipart/form-data; boundary=\"", "text/plain",
        ]
        for index in 0..<Self.count {
            let document = try #require(documents.randomElement(using: &random))
            var bytes = mutator.body(index, from: document)
            switch index % 5 {
            case 1: bytes = mutator.raw(Array("a=".utf8) + bytes)
            case 2: bytes = mutator.raw(Array("<a b='".utf8) + bytes + Array("'>x</a>".utf8))
            case 3:
                let head = "--XyZ\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n"
                bytes = mutator.raw(Array(head.utf8) + bytes + Array("\r\n--XyZ--".utf8))
            default: break
            }
            for texts in [false, true] {
                let mask = CaptureMask(keepsTexts: texts)
                let type = types.randomElement(using: &random) ?? nil
                let masked = mask.body(bytes, contentType: type, limit: 512)
                #expect(masked.utf8.count <= 512)
                if !texts { #expect(!masked.contains(Self.secrets[0])) }
                let text = String(decoding: bytes, as: UTF8.self)
                #expect((mask.query(text) ?? "").utf8.count <= CaptureMask.lineLimitBytes)
                #expect(mask.path("/" + text).utf8.count <= CaptureMask.lineLimitBytes)
            }
        }
    }
}
