# Signs as a Perl backend does: JSON::PP with sorted names; "ascii" on the command line escapes the rest.
# Reads the job of ../README.md, "Signers". Core modules only.
use strict;
use warnings;
use Digest::SHA qw(hmac_sha256_hex);
use Encode qw(decode);
use JSON::PP;
use MIME::Base64 qw(encode_base64url);

chomp(my ($secret, @members) = <STDIN>);
my %payload;
for my $line (@members) {
    my ($name, $kind, $text) = split /\t/, decode("UTF-8", $line), -1;
    $payload{$name} = $kind eq "string" ? $text : $kind eq "number" ? 0 + $text : $text eq "true" ? JSON::PP::true : JSON::PP::false;
}
my $json = JSON::PP->new->canonical;
$json = ($ARGV[0] // "") eq "ascii" ? $json->ascii : $json->utf8;
my $text = $json->encode(\%payload);
my $signature = hmac_sha256_hex($text, $secret);
print encode_base64url(qq({"payload":$text,"signature":"$signature"})), "\n";
