/// A sentence that the API writes in English only, such as those of explanations and diagnoses, in both languages.
///
/// The Korean sentence is found by the pattern of the English one; its values stay, and those that are sentences are translated too. A test
/// compares the patterns with the sources of the sentences.
package enum APISentence {
    /// The sentence in both languages. One without a pattern stays English.
    package static func text(_ english: String) -> Text { Text(ko: korean(english, depth: 0) ?? english, en: english) }

    /// The Korean sentence; nil: no pattern matches.
    static func korean(_ english: String) -> String? { korean(english, depth: 0) }

    /// Longer texts are not sentences of the API. Unit: bytes.
    private static let limit = 4 << 10

    private static func korean(_ english: String, depth: Int) -> String? {
        guard english.utf8.count <= limit, depth < 3 else { return nil }
        if let whole = exact[english] { return whole }
        for pattern in patterns {
            if let values = pattern.values(in: english) {
                return pattern.filled(values.map { korean($0, depth: depth + 1) ?? $0 })
            }
        }
        return nil
    }

    /// Sentences without values, which are most.
    private static let exact = Dictionary(
        APISentenceTable.all.filter { !$0.en.contains("{}") }.map { ($0.en, $0.ko) }
    ) { first, _ in first }

    /// Those with more fixed text first: a short pattern may match a longer sentence.
    private static let patterns = APISentenceTable.all.filter { $0.en.contains("{}") }.map { Pattern($0.en, $0.ko) }
        .sorted { $0.fixedBytes > $1.fixedBytes }

    struct Pattern: Sendable {
        private let pieces: [String]
        private let korean: String
        let fixedBytes: Int

        /// - Parameters:
        ///   - english: with `{}` for each value.
        ///   - korean: with `{1}`, `{2}`… for the values in the order of the English sentence.
        init(_ english: String, _ korean: String) {
            var pieces: [String] = []
            var rest = Substring(english)
            while let place = rest.firstRange(of: "{}") {
                pieces.append(String(rest[..<place.lowerBound]))
                rest = rest[place.upperBound...]
            }
            pieces.append(String(rest))
            self.pieces = pieces
            self.korean = korean
            fixedBytes = pieces.map(\.utf8.count).reduce(0, +)
        }

        func values(in text: String) -> [String]? {
            guard let first = pieces.first, let last = pieces.last, text.hasPrefix(first) else { return nil }
            var rest = text.dropFirst(first.count)
            var values: [String] = []
            for piece in pieces.dropFirst().dropLast() {
                guard let place = rest.firstRange(of: piece) else { return nil }
                values.append(String(rest[..<place.lowerBound]))
                rest = rest[place.upperBound...]
            }
            guard rest.hasSuffix(last) else { return nil }
            values.append(String(rest.dropLast(last.count)))
            return values
        }

        func filled(_ values: [String]) -> String {
            var text = ""
            var rest = Substring(korean)
            while let place = rest.firstIndex(of: "{") {
                text += rest[..<place]
                rest = rest[rest.index(after: place)...]
                guard let end = rest.firstIndex(of: "}") else { break }
                if let number = Int(rest[..<end]), values.indices.contains(number - 1) { text += values[number - 1] }
                rest = rest[rest.index(after: end)...]
            }
            return text + rest
        }
    }
}
