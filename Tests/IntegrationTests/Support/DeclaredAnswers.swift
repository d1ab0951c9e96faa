import GatewayHTTP
import HTTPTypes
import Model
import Testing

@testable import CommandSupport
@testable import NativeHTTP

/// Checks every native call of the tests against the declarations: a status or a problem code that its operation does
/// not declare is an issue.
enum DeclaredAnswers {
    private static func operation(_ method: String, _ path: String) -> NativeOperation? {
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        return NativeOperations.all.first { operation in
            let template = operation.path.split(separator: "/")
            return operation.method.rawValue == method && template.count == segments.count
                && zip(template, segments).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
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
    }
}
