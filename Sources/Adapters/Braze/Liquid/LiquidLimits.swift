/// Sizes and counts of templates. A text is written by one caller and rendered for each of many users, so each bound is paid often.
enum LiquidLimits {
    /// 16 KiB of one push's texts with their expressions: what is rendered must fit 4 KiB, and branches that are not taken are written too.
    static let sourceBytes = 16 * 1024
    /// 1,000 literals, expressions and tags of one text.
    static let nodeCount = 1000
    /// 8 conditions inside one another: rendering goes one call deeper with each.
    static let depth = 8
    /// 20 filters behind one value, and 20 comparisons in one condition.
    static let chainCount = 20
    /// 255 bytes of a name, as in the vendor's attributes (docs/contracts/braze.md#4.4).
    static let nameBytes = 255
    /// 64 bytes of a number: none that a person writes is longer, and exponents must not grow texts.
    static let numberBytes = 64
    /// 64 bytes of a date's format.
    static let formatBytes = 64
    /// 262,144 steps of one push's rendering. A step is a node, a filter, or a byte that one of them looks at.
    static let stepCount = 256 * 1024
    /// 16 KiB of one push's rendered texts. What fits no push is found here, before it is put together.
    static let outputBytes = 16 * 1024
    /// 64 characters of an expression are told to its caller.
    static let toldCharacters = 64
}

/// An expression that is not understood here, as its caller wrote it, shortened.
struct LiquidFault: Error, Hashable {
    var expression: String
}

/// Why a template gives no push to somebody.
enum LiquidProblem: Error, Hashable {
    /// `abort_message`.
    case aborted
    /// More steps or bytes than the limits allow.
    case tooLong
}
