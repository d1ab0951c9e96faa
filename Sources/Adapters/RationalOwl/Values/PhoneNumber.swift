/// A phone number in the form used for lookups: national digits.
package struct PhoneNumber: Sendable, Hashable {
    package let digits: String
    /// As received.
    package let raw: String

    /// Nil if the number of remaining digits is not that of a phone number.
    ///
    /// Only digits are kept; Korea's country code before a mobile number becomes the leading zero (docs/contracts/rationalowl.md#4.3).
    package init?(_ text: String) {
        var digits = text.filter { $0.isASCII && $0.isNumber }
        let national = digits.dropFirst(2)
        if digits.hasPrefix("82"), national.first == "1", national.count > 1 { digits = "0\(national)" }
        guard RationalOwlLimits.phoneDigits.contains(digits.utf8.count) else { return nil }
        self.digits = digits
        raw = text
    }
}
