/// A command that could not do what it was asked, in a sentence that says what to do.
struct CommandFailure: Error, CustomStringConvertible {
    var description: String
    var isUsage = false

    init(_ description: String, isUsage: Bool = false) {
        self.description = description
        self.isUsage = isUsage
    }
}
