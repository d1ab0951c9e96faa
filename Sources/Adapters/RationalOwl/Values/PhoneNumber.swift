/// A phone number in the form it is looked up by: digits, national.
package struct PhoneNumber: Sendable, Hashable {
    package let digits: String
    /// As it came.
    package let raw: String

    /// Nil when fewer or more digits are left than a phone number has.
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
