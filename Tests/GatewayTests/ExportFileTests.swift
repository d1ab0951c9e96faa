import Foundation
import TestKit
import Testing

@testable import Imports

/// The file of an export, which continues after its last whole record.
@Suite(.timeLimit(.minutes(5))) struct ExportFileTests {
    private let path = "\(ScratchFolder.root)/pgw-export-\(getpid())-\(UInt32.random(in: 0 ... .max))"

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private var part: String {
        get throws { try String(contentsOfFile: path + ".part", encoding: .utf8) }
    }

    private func writePart(_ text: String) throws {
        try text.write(toFile: path + ".part", atomically: true, encoding: .utf8)
    }

    private func remove() {
        for file in [path, path + ".part"] { try? FileManager.default.removeItem(atPath: file) }
    }

    @Test func onlyWholeRecordsAreWritten() throws {
        defer { remove() }
        let file = try ExportFile(path, .ndjson)
        try file.take(bytes(#"{"cursor":"1"}"# + "\n" + #"{"cur"#))
        #expect(try part == #"{"cursor":"1"}"# + "\n")
        #expect(file.cursor == "1")
        try file.take(bytes(#"sor":"2"}"# + "\n"))
        #expect(file.rows == 2 && file.cursor == "2")
        try file.finish()
        let whole = try String(contentsOfFile: path, encoding: .utf8)
        #expect(whole == #"{"cursor":"1"}"# + "\n" + #"{"cursor":"2"}"# + "\n")
        #expect(!FileManager.default.fileExists(atPath: path + ".part"))
    }

    // RFC 4180, §2.6: a line end in quotes belongs to the cell.
    @Test(arguments: [1, 2, 3, 7, 1000]) func aLineEndInsideACellEndsNoRow(chunk: Int) throws {
        defer { remove() }
        let text = "cursor,title\r\n1,\"two\nlines\"\r\n2,\"a \"\"b\"\"\r\n,c\"\r\n3,plain\r\n"
        let file = try ExportFile(path, .csv)
        var rest = bytes(text)[...]
        while !rest.isEmpty {
            try file.take(Array(rest.prefix(chunk)))
            rest = rest.dropFirst(chunk)
        }
        #expect(file.rows == 3)
        #expect(file.cursor == "3")
        #expect(try part == text)
    }

    @Test func anInterruptedTableContinuesAfterItsLastRow() throws {
        defer { remove() }
        try writePart("cursor,title\r\n1,\"two\nlines\"\r\n2,\"cut\noff")
        let file = try ExportFile(path, .csv)
        #expect(file.cursor == "1")
        #expect(file.rows == 1)
        // The next answer begins with the header again, and is cut off too.
        try file.take(bytes("cursor,title\r\n2,\"whole\nnow\"\r\n3,\"ha\nlf"))
        file.dropPart()
        #expect(file.cursor == "2")
        try file.take(bytes("cursor,ti"))
        try file.take(bytes("tle\r\n3,last\r\n"))
        #expect(file.rows == 3 && file.cursor == "3")
        #expect(try part == "cursor,title\r\n1,\"two\nlines\"\r\n2,\"whole\nnow\"\r\n3,last\r\n")
    }

    @Test func aPartWithoutARowStartsOver() throws {
        defer { remove() }
        try writePart("cursor,title\r\n")
        let file = try ExportFile(path, .csv)
        #expect(file.cursor == nil && file.rows == 0)
        try file.take(bytes("cursor,title\r\n"))
        #expect(file.cursor == nil && file.rows == 0)
        try file.take(bytes("1,x\r\n"))
        #expect(try part == "cursor,title\r\n1,x\r\n")
        #expect(file.cursor == "1")
    }

    @Test func anotherFileIsNotContinued() throws {
        defer { remove() }
        try writePart("some text\n")
        #expect(throws: ExportFile.Problem.notAnExport(path: path + ".part")) { try ExportFile(path, .ndjson) }
        #expect(try part == "some text\n")
        let missing = path + "/none"
        #expect(throws: ExportFile.Problem.notWritable(path: missing + ".part")) { try ExportFile(missing, .csv) }
    }
}
