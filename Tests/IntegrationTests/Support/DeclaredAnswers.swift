import GatewayHTTP
import HTTPTypes
import Model
import Testing

@testable import CommandSupport
@testable import NativeHTTP

/// Checks nearly every native answer in the tests against the API's document: a status, a problem code or a body that its operation does not declare is an
/// issue. Calls through an `HTTPCaller` of a test's own are not checked.
enum DeclaredAnswers {
    private static let schemas = SchemaCheck(document: OpenAPIDocument.json)

    /// The operation whose path has the most words in common.
    private static func operation(_ method: String, _ path: String) -> NativeOperation? {
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        func words(_ operation: NativeOperation) -> Int {
            operation.path.split(separator: "/").filter { !$0.hasPrefix("{") }.count
        }
        return NativeOperations.all.filter { operation in
            let template = operation.path.split(separator: "/")
            return operation.method.rawValue == method && template.count == segments.count
                && zip(template, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }.max { words($0) < words($1) }
    }

    static func check(_ method: String, _ path: String, _ answer: HTTPCaller.Answer) {
        guard let operation = operation(method, path) else { return }
        if let code = answer.json?["code"]?.string.flatMap({ ProblemCode(rawValue: $0) }), answer.status >= 400 {
            #expect(
                operation.problems.contains(code),
                "\(operation.id) does not declare \(code.rawValue): \(answer.text)"
            )
        } else {
            let statuses = operation.answers.map(\.status)
            #expect(
                statuses.contains(answer.status),
                "\(operation.id) does not declare \(answer.status): \(answer.text)"
            )
        }
        let faults = faults(operation, path, answer)
        #expect(faults.isEmpty, "\(operation.id) does not declare this answer to \(method) \(path): \(answer.status)")
    }

    /// The reasons why the body of an answer is not what the document declares.
    private static func faults(_ operation: NativeOperation, _ path: String, _ answer: HTTPCaller.Answer) -> [String] {
        let paths = OpenAPIDocument.json["paths"]?[operation.path]?[operation.method.rawValue.lowercased()]
        // A status that is not declared has been reported.
        guard let response = paths?["responses"]?["\(answer.status)"] else { return [] }
        guard let content = response["content"] else {
            return answer.bytes.isEmpty ? [] : ["a body where none is declared"]
        }
        for type in ["application/json", "application/problem+json"] {
            guard let schema = content[type]?["schema"], !isCSV(path, content, answer) else { continue }
            guard let value = answer.json else { return ["a body that is not JSON"] }
            return schemas.faults(value, schema)
        }
        guard let schema = content["application/x-ndjson"]?["schema"], !isCSV(path, content, answer) else { return [] }
        return answer.text.split(separator: "\n").flatMap { line in
            (try? JSONParser.parse(String(line))).map { schemas.faults($0, schema) } ?? ["a line that is not JSON"]
        }
    }

    private static func isCSV(_ path: String, _ content: JSON, _ answer: HTTPCaller.Answer) -> Bool {
        answer.status < 400 && content["text/csv"] != nil && path.contains("format=csv")
    }
}
