import Foundation
import NIOConcurrencyHelpers
package import Testing

/// The part of a vendor's interface that a test covers: names of calls from the vendor's catalog (`Tests/<Vendor>Tests/Fixtures/catalogue.json`), and
/// how far the gateway supports them.
///
/// A mark states what its test proves if it passes. The line that the test writes when it runs records whether it passed, and the tables in
/// `docs/vendors` are generated from those lines alone (`scripts/matrix`). Without the environment variable, a marked test behaves like any other.
package struct CoverageMark: TestTrait, TestScoping {
    /// The claim of the test about its calls.
    enum Claim: Sendable {
        /// The call conforms to the contract, as far as the level of the test can show.
        case passed
        /// It conforms, except for the difference in the text.
        case partial(String)
        /// It is refused, as the documentation states. The text is the answer.
        case refused(String)

        var word: String {
            switch self {
            case .passed: "passed"
            case .partial: "partial"
            case .refused: "refused"
            }
        }

        var note: String {
            switch self {
            case .passed: ""
            case .partial(let note), .refused(let note): note
            }
        }
    }

    var vendor: String
    var calls: [String]
    var claim: Claim
    /// `Module/File.swift` of the test. It determines whether the adapter alone or the whole gateway is tested.
    var file: String

    /// The environment variable with the name of a file. Each call of each case of a finished test adds a line of
    /// tab-separated fields: commit, vendor, call, file, test, claim, `passed` or `failed`, note.
    static let variable = "GATEWAY_MATRIX"
    /// The environment variable with the tested commit, set by the caller of the tests.
    static let commitVariable = "GATEWAY_MATRIX_COMMIT"

    /// Prevents lines of parallel tests from overlapping.
    private static let writing = NIOLock()

    package func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        guard let path = ProcessInfo.processInfo.environment[Self.variable], !path.isEmpty else {
            return try await function()
        }
        let hasFailed = NIOLockedValueBox(false)
        // A failed expectation does not throw; only the handler of issues sees it.
        let watch = IssueHandlingTrait.compactMapIssues { issue in
            if issue.isFailure { hasFailed.withLockedValue { $0 = true } }
            return issue
        }
        do {
            try await watch.provideScope(for: test, testCase: testCase, performing: function)
        } catch {
            try write(test, "failed", to: path)
            throw error
        }
        try write(test, hasFailed.withLockedValue { $0 } ? "failed" : "passed", to: path)
    }

    private func write(_ test: Test, _ outcome: String, to path: String) throws {
        let commit = ProcessInfo.processInfo.environment[Self.commitVariable] ?? "unknown"
        let name = String(test.name.prefix { $0 != "(" })
        let lines = calls.map { call in
            [commit, vendor, call, file, name, claim.word, outcome, claim.note].joined(separator: "\t") + "\n"
        }.joined()
        try Self.writing.withLock {
            if !FileManager.default.fileExists(atPath: path) {
                try Data().write(to: URL(fileURLWithPath: path))
            }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(lines.utf8))
            try handle.close()
        }
    }
}

extension Trait where Self == CoverageMark {
    /// The test proves that these calls conform to the vendor's contract.
    package static func covers(_ vendor: String, _ calls: String..., file: String = #fileID) -> CoverageMark {
        CoverageMark(vendor: vendor, calls: calls, claim: .passed, file: file)
    }

    /// The test proves that these calls conform to the contract, except for `partial`: one sentence for the vendor's
    /// page.
    package static func covers(
        _ vendor: String,
        _ calls: String...,
        partial: String,
        file: String = #fileID
    ) -> CoverageMark {
        CoverageMark(vendor: vendor, calls: calls, claim: .partial(partial), file: file)
    }

    /// The test proves that these calls are refused as documented; `refused` is the answer.
    package static func covers(
        _ vendor: String,
        _ calls: String...,
        refused: String,
        file: String = #fileID
    ) -> CoverageMark {
        CoverageMark(vendor: vendor, calls: calls, claim: .refused(refused), file: file)
    }
}
