import Glibc
import ProgramSupport
import Testing

/// The programs that tests run.
@Suite(.timeLimit(.minutes(10)))
struct ChildProgramTests {
    @Test func inputAndVariableArriveAndOutputAndStatusReturn() async throws {
        let ending = try await ChildProgram.run(
            "/bin/sh",
            ["-c", #"cat; echo "$WORD" >&2; exit 3"#],
            environment: ["WORD": "variable"],
            input: "input"
        )
        #expect(ending.status == 3)
        #expect(ending.output == "input")
        #expect(ending.errors == "variable\n")
    }

    // A program that inherits a socket keeps it open after the test has closed it.
    @Test func noDescriptorIsInherited() async throws {
        // `dup` clears the flag that closes a descriptor when a program is started.
        let descriptor = dup(STDERR_FILENO)
        defer { close(descriptor) }
        let script = "test -e /proc/self/fd/$1"
        let ending = try await ChildProgram.run("/bin/sh", ["-c", script, "sh", String(descriptor)])
        #expect(ending.status == 1)
    }

    @Test func aKilledProgramHasEndedByTheSignal() throws {
        let program = try ChildProgram("/bin/sleep", ["600"])
        #expect(program.status == nil)
        program.kill()
        #expect(program.status == 128 + SIGKILL)
    }

    @Test func aReleasedProgramIsKilled() throws {
        let processID = try ChildProgram("/bin/sleep", ["600"]).processID
        #expect(kill(processID, 0) == -1)
    }

    @Test func aMissingProgramIsNotStarted() {
        #expect(throws: ChildProgram.NotStarted.self) { try ChildProgram("/nonexistent", []) }
    }
}
