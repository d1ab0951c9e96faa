/// Why an import cannot start or go on, in a sentence that says what to do.
package struct ImportProblem: Error, CustomStringConvertible {
    package var description: String
    /// Whether the file or an option is wrong.
    package var isUsage: Bool

    init(_ description: String, isUsage: Bool = false) {
        self.description = description
        self.isUsage = isUsage
    }
}
