import Model
import NIOHTTP1
import NIOSSL
import Testing

@testable import CommandSupport
@testable import NativeHTTP

/// Checks native answers in the tests against the API's document: a status, header, content type, problem code or body that the operation does not declare
/// is an issue of the test. An answer to a path or method without an operation must be a problem.
///
/// Each caller of the tests that reads whole answers of a gateway checks them. Gateways of an older version have another document (`OlderVersionTests`).
enum DeclaredAnswers {
    /// An operation as the document describes it.
    private struct Operation: Sendable {
        let id: String
        let segments: [Substring]
        /// By status.
        let responses: JSONObject

        /// The number of segments that are not fields.
        var words: Int { segments.count { !$0.hasPrefix("{") } }

        func fits(_ path: [Substring]) -> Bool {
            zip(segments, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
    }

    private static let schemas = SchemaCheck(document: OpenAPIDocument.json)
    private static let problem: JSON = ["$ref": "#/components/schemas/Problem"]

    /// By method and number of segments.
    private static let operations: [String: [Operation]] = {
        var operations: [String: [Operation]] = [:]
        for (path, item) in OpenAPIDocument.json["paths"]?.object?.pairs ?? [] {
            for (method, json) in item.object?.pairs ?? [] {
                let operation = Operation(
                    id: json["operationId"]?.string ?? "",
                    segments: path.split(separator: "/"),
                    responses: json["responses"]?.object ?? [:]
                )
                operations[DeclaredAnswers.key(method.uppercased(), operation.segments), default: []].append(operation)
            }
        }
        return operations
    }()

    private static func key(_ method: String, _ path: [Substring]) -> String { "\(method) \(path.count)" }

    /// If several operations fit, that with the most words in common.
    private static func operation(_ method: String, _ path: [Substring]) -> Operation? {
        operations[key(method, path), default: []].filter { $0.fits(path) }.max { $0.words < $1.words }
    }

    /// Checks the answer of a gateway of this version. Answers to calls of vendors are not described.
    static func check(_ method: String, _ path: String, _ answer: HTTPCaller.Answer) {
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        guard segments.first == "v1" else { return }
        let faults = faults(method, segments, answer)
        #expect(
            faults.isEmpty,
            "the document does not allow this answer to \(method) \(path): \(answer.status) \(answer.text.prefix(2000))"
        )
    }

    /// The reasons why an answer is not what the document declares.
    static func faults(_ method: String, _ path: [Substring], _ answer: HTTPCaller.Answer) -> [String] {
        // A HEAD is a GET whose answer has no body.
        let isHead = method == "HEAD"
        guard let operation = operation(isHead ? "GET" : method, path) else {
            guard [404, 405].contains(answer.status) else { return ["no operation has this path and method"] }
            let response: JSON = ["content": ["application/problem+json": ["schema": problem]]]
            return isHead ? [] : bodyFaults(response, answer)
        }
        guard let response = operation.responses["\(answer.status)"] else {
            return ["\(operation.id) does not declare the status"]
        }
        let missing = (response["headers"]?.object?.keys ?? []).filter { answer.headers[$0].isEmpty }
        let faults = missing.map { "the header \($0) is missing" }
        if isHead { return faults + (answer.bytes.isEmpty ? [] : ["a body after HEAD"]) }
        return faults + bodyFaults(response, answer)
    }

    private static func bodyFaults(_ response: JSON, _ answer: HTTPCaller.Answer) -> [String] {
        guard let content = response["content"] else {
            return answer.bytes.isEmpty ? [] : ["a body where none is declared"]
        }
        let type = String((answer.headers.first(name: "content-type") ?? "").prefix { $0 != ";" })
        guard let schema = content[type]?["schema"] else { return ["the content type '\(type)' is not declared"] }
        switch type {
        case "text/csv": return []
        case "application/x-ndjson":
            return answer.text.split(separator: "\n").flatMap { line in
                (try? JSONParser.parse(String(line))).map { schemas.faults($0, schema) } ?? ["a line that is not JSON"]
            }
        default:
            guard let value = answer.json else { return ["a body that is not JSON"] }
            let faults = schemas.faults(value, schema)
            guard let codes = response["x-problem-codes"]?.array, let code = value["code"], !codes.contains(code) else {
                return faults
            }
            return faults + ["the problem \(code.string ?? "?") is not declared"]
        }
    }
}

extension HTTPCaller {
    /// A caller of a gateway of this version, whose native answers are checked.
    init(gateway base: String, trustRootsFile: String? = nil) {
        self.init(base: base, trustRootsFile: trustRootsFile) { DeclaredAnswers.check($0, $1, $2) }
    }

    /// The same with settings of TLS.
    init(gateway base: String, tls: TLSConfiguration) {
        self.init(base: base, tls: tls) { DeclaredAnswers.check($0, $1, $2) }
    }
}
