import Foundation
package import PlanCheck
import PostgresClient
import Synchronization

/// The statements that tests have used (`statements.sql`), which `PlanTests` explains. A statement that is missing there is a warning in the log of the run.
/// With `GATEWAY_RECORD_STATEMENTS=1`, the missing ones are added instead. `GATEWAY_ADDED_STATEMENTS` names a file that takes them: `PlanTests` explains
/// these too, so that `scripts/test` judges every statement that its tests ran.
package final class StatementRecord: Sendable {
    package static let shared = StatementRecord()

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let file = folder.appending(path: "statements.sql")

    private static let addedFile = ProcessInfo.processInfo.environment["GATEWAY_ADDED_STATEMENTS"].map {
        URL(filePath: $0)
    }

    private struct State {
        var list = StatementList()
        var added = StatementList()
        var seen: Set<StatementList.Entry> = []
    }

    private let state: Mutex<State>
    private let isRecording = ProcessInfo.processInfo.environment["GATEWAY_RECORD_STATEMENTS"] == "1"

    private init() {
        let text = (try? String(contentsOf: Self.file, encoding: .utf8)) ?? ""
        let added = Self.addedFile.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
        state = Mutex(State(list: StatementList(text: text), added: StatementList(text: added)))
    }

    /// The statements of `statements.sql`, and those that this run of `scripts/test` added.
    package var list: StatementList {
        state.withLock { state in
            var all = state.list
            all.formUnion(state.added)
            return all
        }
    }

    /// The intended reads without a limit.
    package static func exceptions() throws -> PlanExceptions {
        PlanExceptions(text: try String(contentsOf: folder.appending(path: "plan-exceptions.txt"), encoding: .utf8))
    }

    /// Called with each statement of a store that a pool runs.
    func note(_ statement: Statement, role: String) {
        let entry = StatementList.Entry(role: role, sql: statement.sql)
        let isMissing = state.withLock { state in
            guard state.seen.insert(entry).inserted, !state.list.entries.contains(entry) else { return false }
            if let file = Self.addedFile {
                state.added.formUnion(StatementList([entry]))
                try? state.added.text.write(to: file, atomically: true, encoding: .utf8)
            }
            if isRecording {
                state.list.formUnion(StatementList([entry]))
                try? state.list.text.write(to: Self.file, atomically: true, encoding: .utf8)
            }
            return !isRecording
        }
        guard isMissing else { return }
        // A line of the log and no issue: some statements are used only when two calls meet.
        let line =
            "warning: not in Tests/Support/Database/statements.sql, GATEWAY_RECORD_STATEMENTS=1 adds it: \(entry.sql)\n"
        FileHandle.standardError.write(Data(line.utf8))
    }
}
