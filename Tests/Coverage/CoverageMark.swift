import Foundation
import NIOConcurrencyHelpers
package import Testing

/// What a test shows of a vendor's interface: names of calls, as the vendor's catalogue (`Tests/<Vendor>Tests/Fixtures/catalogue.json`) has them.
///
/// `scripts/matrix` reads what is written here; without its environment variable a marked test is a test like any other.
package struct CoverageMark: TestTrait, TestScoping {
    var vendor: String
    var calls: [String]
    /// `Module/File.swift` of the test: whether it tests the adapter alone or the whole gateway.
    var file: String

    /// Names the file that lines `vendor<TAB>call<TAB>file<TAB>test<TAB>passed|failed` are added to, one for each case of a test that has ended.
    static let variable = "GATEWAY_MATRIX"

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
        let lines = calls.map { [vendor, $0, file, test.name, outcome].joined(separator: "\t") + "\n" }.joined()
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
    /// Marks what the test shows.
    package static func covers(_ vendor: String, _ calls: String..., file: String = #fileID) -> CoverageMark {
        CoverageMark(vendor: vendor, calls: calls, file: file)
    }
}
