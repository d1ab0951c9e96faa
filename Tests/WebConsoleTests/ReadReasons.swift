import Foundation
import Model

/// The reasons that the native API explains, from the source of its sentences.
enum ReadReasons {
    static let documented: Set<String> = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "Sources/Gateway/Explain/ReasonText.swift")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        // A row begins with its reason: a text in quotation marks, or a case of an enum.
        let quoted = text.matches(of: /\(\s*"([A-Z][A-Za-z]+)",\s*"/).map { String($0.output.1) }
        let cases = text.matches(of: /\(\s*[A-Z][A-Za-z]+\.([a-z][A-Za-z]+)\.rawValue,\s*"/).map { String($0.output.1) }
        return Set(quoted + cases)
    }()
}
