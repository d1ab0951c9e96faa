import Foundation
import NIOConcurrencyHelpers
package import Testing

/// What a test shows of a vendor's interface: names of calls, as the vendor's catalogue (`Tests/<Vendor>Tests/Fixtures/catalogue.json`) has them, and
/// how far the gateway answers them.
///
/// A mark says what its test shows when it passes. That it passed is said by the line that it writes when it runs, and the tables in `docs/vendors` are made of
/// those lines alone (`scripts/matrix`). Without the environment variable a marked test is a test like any other.
package struct CoverageMark: TestTrait, TestScoping {
    /// What the test shows of its calls.
    enum Claim: Sendable {
        /// The call does what the contract says, as far as the level of the test reaches.
        case passed
        /// It does, but for what the text says.
        case partial(String)
        /// It is refused, and the documentation says so. The text is the answer.
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
    /// `Module/File.swift` of the test: whether it tests the adapter alone or the whole gateway.
    var file: String

    /// Names the file that gets a line of tab-separated fields for each call of each case of a test that has ended:
    /// commit, vendor, call, file, test, claim, `passed` or `failed`, note.
    static let variable = "GATEWAY_MATRIX"
    /// The commit whose tests run, set by who starts them.
    static let commitVariable = "GATEWAY_MATRIX_COMMIT"

    /// Lines of parallel tests must not run into each other.
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
        // An expectation that does not hold throws nothing: it is seen only where issues pass.
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
    /// The test shows that these calls do what the vendor's contract says.
    package static func covers(_ vendor: String, _ calls: String..., file: String = #fileID) -> CoverageMark {
        CoverageMark(vendor: vendor, calls: calls, claim: .passed, file: file)
    }

    /// The test shows that these calls do what the contract says, but for `partial`: one sentence for the page of the vendor.
    package static func covers(
        _ vendor: String,
        _ calls: String...,
        partial: String,
        file: String = #fileID
    ) -> CoverageMark {
        CoverageMark(vendor: vendor, calls: calls, claim: .partial(partial), file: file)
    }

    /// The test shows that these calls are refused as the documentation says; `refused` is the answer.
    package static func covers(
        _ vendor: String,
        _ calls: String...,
        refused: String,
        file: String = #fileID
    ) -> CoverageMark {
        CoverageMark(vendor: vendor, calls: calls, claim: .refused(refused), file: file)
    }
}
