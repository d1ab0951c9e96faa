import Model

/// Errors by field; those under the empty name concern the form.
package struct FieldErrors: Sendable, Hashable {
    /// The errors of the page itself are in its language. Those of a problem are its detail, which is English: a page translates or quotes it.
    package var errors: [String: String]
    /// The problem whose detail is the error of a field.
    package var problems: [String: AnsweredProblem] = [:]

    package init(_ errors: [String: String]) { self.errors = errors }

    /// A problem of the native API: its detail begins with the field, as in `title: at most 1,000 characters`, if it concerns one.
    package init(_ problem: APIAnswer) {
        let detail = problem.body["detail"]?.string ?? ""
        let parts = detail.split(separator: ":", maxSplits: 1)
        if parts.count == 2, let field = parts.first, !field.contains(" ") {
            errors = [String(field): parts[1].trimmingPrefix(while: \.isWhitespace).description]
        } else {
            errors = ["": detail]
        }
        let answered = AnsweredProblem(code: problem.body["code"]?.string, status: problem.status)
        problems = errors.mapValues { _ in answered }
    }

    /// All errors at one field, each with the name of its own.
    package func gathered(at field: String) -> FieldErrors {
        let texts = errors.sorted { $0.key < $1.key }.map { name, text in name.isEmpty ? text : "\(name): \(text)" }
        var gathered = FieldErrors([field: texts.joined(separator: " ")])
        gathered.problems[field] = problems.values.first
        return gathered
    }
}

/// A problem of the native API, without its detail.
package struct AnsweredProblem: Sendable, Hashable {
    /// `PG-…`.
    package var code: String?
    /// The HTTP status.
    package var status: Int
}
