import Model

/// An error as a page shows it.
package struct ErrorWords: Sendable, Hashable {
    /// In the language of the page.
    package var text: String
    /// The English detail of the native API, on a page in another language.
    package var quote: String?

    /// The same with the name of a field that the form does not show.
    package func named(_ field: String) -> ErrorWords {
        guard !field.isEmpty else { return self }
        if let quote { return ErrorWords(text: text, quote: "\(field): \(quote)") }
        return ErrorWords(text: "\(field): \(text)")
    }

    package func parts(_ mark: Mark) -> [Part] {
        let callout = Part.callout(mark, text, link: nil)
        return quote.map { [callout, .quote($0)] } ?? [callout]
    }
}

extension ProblemWords {
    /// The detail of the problem, which is English, as an error. On a page in Korean it is translated, or quoted behind the words of the problem.
    package func error(_ detail: String, _ language: Language) -> ErrorWords {
        let whole = "\(title(language)) \(action(language))"
        guard !detail.isEmpty else { return ErrorWords(text: whole) }
        guard language == .ko else { return ErrorWords(text: detail) }
        return FaultSentence.korean(detail).map { ErrorWords(text: $0) } ?? ErrorWords(text: whole, quote: detail)
    }

    /// A problem as an error of a part of a page.
    package static func error(_ problem: APIAnswer, _ language: Language) -> ErrorWords {
        of(problem.body["code"]?.string, status: problem.status).error(problem.body["detail"]?.string ?? "", language)
    }
}

extension FieldErrors {
    /// The errors as a page shows them.
    package func words(_ language: Language) -> [String: ErrorWords] {
        var words: [String: ErrorWords] = [:]
        for (field, text) in errors {
            let problem = problems[field].map { ProblemWords.of($0.code, status: $0.status) }
            words[field] = problem?.error(text, language) ?? ErrorWords(text: text)
        }
        return words
    }
}
