package import FoundationEssentials

extension Data {
    /// The bytes in base64url without padding, as in a JSON Web Token.
    package var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
